"""Why a pod cannot go to a node: small pure checks in the order of the default profile.

Kubernetes: pkg/scheduler/framework/plugins (nodeunschedulable, nodename, tainttoleration,
nodeaffinity, noderesources/fit) and component-helpers' tolerations. The texts are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.selectors import matches

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object
    from simulator.scheduler.rooms import Room
    from simulator.scheduler.wishes import Wishes

UNSCHEDULABLE: Final = "NodeUnschedulable"
TAINTS: Final = "TaintToleration"
AFFINITY: Final = "NodeAffinity"
FIT: Final = "NodeResourcesFit"

NO_MATCH: Final = "node(s) didn't match Pod's node affinity/selector"
_CORDONED: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class Refusal(NamedTuple):
    """What a filter says against a node; `final`: not even an empty node of that kind would do."""

    plugin: str
    reasons: tuple[str, ...]
    final: bool


def refusal(pod: Wishes, room: Room) -> Refusal | None:
    """Tell the first objection; None: the pod can go there."""
    for check in _CHECKS.values():
        found = check(pod, room)
        if found is not None:
            return found
    return None


def refusal_by(plugin: str, pod: Wishes, room: Room) -> Refusal | None:
    """Ask one filter only."""
    return _CHECKS[plugin](pod, room)


def _unschedulable(pod: Wishes, room: Room) -> Refusal | None:
    if not room.cordoned or any(tolerates(one, _CORDONED) for one in pod.tolerations):
        return None
    return Refusal(UNSCHEDULABLE, ("node(s) were unschedulable",), final=True)


def _taints(pod: Wishes, room: Room) -> Refusal | None:
    for taint in room.taints:
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(
            tolerates(one, taint) for one in pod.tolerations
        ):
            return Refusal(TAINTS, ("node(s) had untolerated taint(s)",), final=True)
    return None


def _affinity(pod: Wishes, room: Room) -> Refusal | None:
    if not pod.selects or matches(pod.spec, room.name, room.labels):
        return None
    return Refusal(AFFINITY, (NO_MATCH,), final=True)


def _fit(pod: Wishes, room: Room) -> Refusal | None:
    reasons, final = [], False
    if room.pods + 1 > room.allocatable.get("pods", 0):
        reasons.append("Too many pods")
    for name, asked in pod.requests.items():
        have = room.allocatable.get(name, 0)
        if asked and asked > have - room.used.get(name, 0):
            reasons.append(f"Insufficient {name}")
            final = final or asked > have
    return Refusal(FIT, tuple(reasons), final) if reasons else None


_CHECKS: Final[dict[str, Callable[[Wishes, Room], Refusal | None]]] = {
    UNSCHEDULABLE: _unschedulable,
    TAINTS: _taints,
    AFFINITY: _affinity,
    FIT: _fit,
}


def tolerates(toleration: Object, taint: Object) -> bool:
    """Tell whether a toleration covers a taint: an empty key or effect covers every one."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(toleration.get("key")) and same
