"""The scheduler, approximated: which nodes a pod fits by its requests, and the emptiest of them.

Kubernetes rules (the default profile): NodeUnschedulable, TaintToleration, NodeAffinity (required)
and NodeResourcesFit say no; LeastAllocated of cpu and memory chooses, the first by name of equally
good nodes. Not here: preferences, spreading, pod affinity, volumes, ports, preemption, priorities.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.objects import map_at, text_at
from evencore.domain.quantity import QuantityError
from evencore.domain.resources import CPU, MEMORY
from evencore.domain.selectors import matches
from evencore.domain.taints import tolerates
from evencore.standing.asked import PODS, amounts_of, kinds, requested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evencore.domain.objects import Object
    from evencore.standing.asked import Asked

_BEST: Final = 100
_AT_LEAST: Final = {CPU: 100, MEMORY: 200 << 20}
"""What a container that asks for nothing counts for in the choice (GetNonzeroRequests)."""
_CORDONED: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class Choice(NamedTuple):
    """The node, or why there is none, in the scheduler's words."""

    node: str | None
    why_not: str = ""


class Room:
    """One node as the scheduler counts it."""

    def __init__(self, node: Object) -> None:
        metadata, spec = map_at(node, "metadata"), map_at(node, "spec")
        self.name = text_at(metadata, "name")
        labels = map_at(metadata, "labels").items()
        self.labels = {key: value for key, value in labels if isinstance(value, str)}
        self.taints = _maps(spec.get("taints"))
        if spec.get("unschedulable") is True:
            self.taints.append(_CORDONED)
        try:
            self.allocatable = amounts_of(map_at(map_at(node, "status"), "allocatable"))
        except QuantityError:
            self.allocatable = {}
        self.free = dict(self.allocatable)
        self._scored = {CPU: 0, MEMORY: 0}

    def add(self, asked: Asked, sign: int = 1) -> None:
        """Count a pod; `sign` -1 takes it away again."""
        for name, amount in (*asked.requests.items(), (PODS, 1)):
            self.free[name] = self.free.get(name, 0) - sign * amount
        for name, amount in scored(asked).items():
            self._scored[name] += sign * amount

    def objection(self, asked: Asked, *, daemon: bool) -> str | None:
        """Say why a pod cannot come here, as the scheduler does; None: it can."""
        unsuited = self.unsuited(asked, daemon=daemon)
        if unsuited:
            return unsuited
        if self.free.get(PODS, 0) < 1:
            return "Too many pods"
        for name, amount in asked.requests.items():
            if amount > max(self.free.get(name, 0), 0):
                return f"Insufficient {name}"
        return None

    def unsuited(self, asked: Asked, *, daemon: bool) -> str | None:
        """Say what speaks against a pod here even if the node were empty.

        `daemon`: it is of a DaemonSet, and these tolerate that a node is cordoned.
        """
        spec = map_at(asked.raw, "spec") if self.taints else {}
        tolerations = _maps(spec.get("tolerations"))
        for taint in self.taints:
            if text_at(taint, "effect") == "PreferNoSchedule" or (daemon and taint is _CORDONED):
                continue
            if not any(tolerates(one, taint) for one in tolerations):
                if taint is _CORDONED:
                    return "node(s) were unschedulable"
                return "node(s) had untolerated taint(s)"
        if not matches(asked.spec, self.name, self.labels):
            return "node(s) didn't match Pod's node affinity/selector"
        return None

    def score(self, adds: Mapping[str, int]) -> int:
        """Mark this node: how much of its CPU and memory is left, of 100, with this added."""
        return sum(self._left(name, adds[name]) for name in (CPU, MEMORY)) // 2

    def _left(self, name: str, adds: int) -> int:
        have, used = self.allocatable.get(name, 0), self._scored[name] + adds
        return (have - used) * _BEST // have if have > 0 and used <= have else 0


def choose(asked: Asked, rooms: Mapping[str, Room], only: str | None = None) -> Choice:
    """Choose a node; `only`: the one that a DaemonSet made the pod for."""
    reasons: Counter[str] = Counter()
    best: tuple[int, str] | None = None
    adds = scored(asked)
    for room in rooms.values() if only is None else (rooms[only],):
        objection = room.objection(asked, daemon=only is not None)
        if objection is not None:
            reasons[objection] += 1
            continue
        score = room.score(adds)
        if best is None or score > best[0]:
            best = score, room.name
    if best is not None:
        return Choice(best[1])
    listed = ", ".join(f"{number} {why}" for why, number in sorted(reasons.items()))
    number = 1 if only else len(rooms)
    return Choice(None, f"0/{number} nodes are available: {listed}" if rooms else "no nodes")


def scored(asked: Asked) -> dict[str, int]:
    """Count what a pod asks for as the choice of a node does."""
    said = [requested(one) for _, one in kinds(map_at(asked.raw, "spec"))]
    return {
        name: asked.requests.get(name, 0) + least * sum(1 for one in said if name not in one)
        for name, least in _AT_LEAST.items()
    }


def rooms_of(nodes: Iterable[Object], bound: Mapping[str, Sequence[Asked]]) -> dict[str, Room]:
    """Make the rooms of all nodes, by name, with the pods that are bound to them."""
    rooms = {room.name: room for room in sorted(map(Room, nodes), key=lambda room: room.name)}
    for name, pods in bound.items():
        for asked in pods if name in rooms else ():
            rooms[name].add(asked)
    return rooms


def _maps(value: object) -> list[Object]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
