"""Why a pod cannot go to a node: small pure checks in the order of the default profile.

Kubernetes: pkg/scheduler/framework/plugins (nodeunschedulable, nodename, tainttoleration,
nodeaffinity, noderesources/fit) and component-helpers' tolerations. The texts are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.selectors import matches
from evencore.domain.taints import tolerates
from simulator.scheduler.rooms import PODS

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Tell the first objection; None: the pod can go there.

    Asked for every pod and node: most nodes have nothing that needs a closer look.
    """
    return (
        (_unschedulable(pod, room) if room.cordoned else None)
        or (_taints(pod, room) if room.taints else None)
        or (_affinity(pod, room) if pod.selects else None)
        or _fit(pod, room)
    )


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
    free = room.free
    if free.get(PODS, 0) >= 1 and all(
        asked <= free.get(name, 0) for name, asked in pod.requests.items() if asked
    ):
        return None
    reasons = [] if free.get(PODS, 0) >= 1 else ["Too many pods"]
    short = [name for name, asked in pod.requests.items() if asked > max(free.get(name, 0), 0)]
    reasons += [f"Insufficient {name}" for name in short]
    final = any(pod.requests[name] > room.allocatable.get(name, 0) for name in short)
    return Refusal(FIT, tuple(reasons), final)


_CHECKS: Final[dict[str, Callable[[Wishes, Room], Refusal | None]]] = {
    UNSCHEDULABLE: _unschedulable,
    TAINTS: _taints,
    AFFINITY: _affinity,
    FIT: _fit,
}
