"""The controller: is it at work, and is nobody held without it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from evencore.doctor.finding import Finding, Severity
from evencore.doctor.views import LeaseSpec
from evencore.domain import names
from evencore.domain.rejection import read_time
from evencore.domain.text import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.doctor.views import SeenPod
    from evencore.doctor.world import World

_USUAL_S: Final = 15
_GRACE: Final = timedelta(minutes=2)


def lease(world: World) -> Iterator[Finding]:
    """Find a Lease that nobody holds and renews."""
    if (why := _idle(world)) is not None:
        yield Finding(
            "controller-not-running",
            Severity.ERROR,
            f"Lease {world.own_namespace}/{world.lease_name}",
            f"no controller works ({why}): held pods are not let go and rejected ones stay",
            f"kubectl -n {world.own_namespace} get pods -l app.kubernetes.io/component=controller",
        )


def gates(world: World) -> Iterator[Finding]:
    """Find pods that wait for somebody who is not there."""
    idle = _idle(world)
    longest = world.policy.holds.longest + _GRACE
    for pod in world.pods:
        if not pod.held:
            continue
        age = _age(pod, world)
        if idle is not None or not world.hooks:
            why = "and no controller works: nobody will let it go"
            if not world.hooks:
                why = "and no webhook configuration is there: an uninstall left it behind"
        elif age is not None and age > longest:
            why = f"for {duration(age)}, longer than any pod is to be held"
        else:
            continue
        yield Finding(
            "gates-left-behind",
            Severity.ERROR,
            f"Pod {pod.name}",
            f"it is held by the scheduling gate {names.HOLD} {why}",
            _let_go(pod),
        )


def _idle(world: World) -> str | None:
    """Say why no controller is at work; None = one is."""
    if world.lease is None:
        return "its Lease is not there"
    spec = world.lease.spec or LeaseSpec()
    if not spec.holder_identity:
        return "nobody holds its Lease"
    renewed = read_time(spec.renew_time)
    if renewed is None:
        return "its Lease was never renewed"
    seconds = spec.lease_duration_seconds
    lasts = timedelta(seconds=seconds if type(seconds) is int else _USUAL_S)
    late = world.now - renewed
    if late > lasts:
        return f"{spec.holder_identity} renewed its Lease {duration(late)} ago"
    return None


def _age(pod: SeenPod, world: World) -> timedelta | None:
    made = read_time(pod.metadata.creation_timestamp if pod.metadata else None)
    return None if made is None else world.now - made


def _let_go(pod: SeenPod) -> str:
    place = pod.spec.gates.index(names.HOLD) if pod.spec else 0
    namespace, _, name = pod.name.partition("/")
    path = f"/spec/schedulingGates/{place}"
    operations = (
        f'[{{"op":"test","path":"{path}/name","value":"{names.HOLD}"}},'
        f'{{"op":"remove","path":"{path}"}}]'
    )
    return f"kubectl -n {namespace} patch pod {name} --type=json -p '{operations}'"
