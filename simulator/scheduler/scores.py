"""How good a node is for a pod: room that is left, what the pod likes and what it avoids.

For: the marks of a node by itself, and scores of nodes beside each other.
Kubernetes: noderesources (LeastAllocated, weight 1), nodeaffinity (weight 2) and tainttoleration
(weight 3) of the default profile, integer division and all. Its other scores are equal for nodes
of one kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.selectors import term_matches
from evencore.domain.taints import tolerates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.scheduler.rooms import Room
    from simulator.scheduler.wishes import Wishes

_BEST: Final = 100
_AFFINITY_WEIGHT: Final = 2
_TAINT_WEIGHT: Final = 3
_SOFT: Final = "PreferNoSchedule"


class Marks(NamedTuple):
    """What a node gets by itself."""

    left: int  # of 100
    likes: int  # weights of preferred terms that it matches
    dislikes: int  # taints that ask politely and are not tolerated


def marks(pod: Wishes, room: Room) -> Marks:
    """Mark one node; holds until the node or its pods change."""
    return Marks(
        _least_allocated(pod, room),
        _likes(pod, room) if pod.preferred else 0,
        _dislikes(pod, room) if room.taints else 0,
    )


def scores(found: Sequence[Marks]) -> list[int]:
    """Score nodes against each other: likes and dislikes count relative to the most of them."""
    likes = max((one.likes for one in found), default=0)
    dislikes = max((one.dislikes for one in found), default=0)
    if not likes and not dislikes:
        return [one.left for one in found]
    return [
        one.left
        + (_AFFINITY_WEIGHT * (one.likes * _BEST // likes) if likes else 0)
        + _TAINT_WEIGHT * (_BEST - (one.dislikes * _BEST // dislikes if dislikes else 0))
        for one in found
    ]


def _least_allocated(pod: Wishes, room: Room) -> int:
    (cpu, memory), (used_cpu, used_memory) = room.capacity, room.scored
    left = _left(cpu, used_cpu + pod.scored[0]) + _left(memory, used_memory + pod.scored[1])
    return left // 2


def _left(have: int, used: int) -> int:
    return (have - used) * _BEST // have if have > 0 and used <= have else 0


def _likes(pod: Wishes, room: Room) -> int:
    return sum(w for w, term in pod.preferred if term_matches(term, room.name, room.labels))


def _dislikes(pod: Wishes, room: Room) -> int:
    return sum(
        taint.get("effect") == _SOFT and not any(tolerates(one, taint) for one in pod.tolerations)
        for taint in room.taints
    )
