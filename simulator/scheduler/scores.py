"""How good a node is for a pod: room that is left, and what the pod would like.

Kubernetes: noderesources (LeastAllocated, weight 1) and nodeaffinity (weight 2) of the default
profile, integer division and all. Its other scores are equal for nodes of one kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.selectors import term_matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.scheduler.rooms import Room
    from simulator.scheduler.wishes import Wishes

_BEST: Final = 100
_AFFINITY_WEIGHT: Final = 2


def scores(pod: Wishes, rooms: Sequence[Room]) -> list[int]:
    """Score nodes against each other; preferences count relative to the best of them."""
    liked = [_preferred(pod, room) for room in rooms] if pod.preferred else [0] * len(rooms)
    most = max(liked, default=0)
    return [
        _least_allocated(pod, room) + (_AFFINITY_WEIGHT * (likes * _BEST // most) if most else 0)
        for room, likes in zip(rooms, liked, strict=True)
    ]


def _least_allocated(pod: Wishes, room: Room) -> int:
    (cpu, memory), (used_cpu, used_memory) = room.capacity, room.scored
    left = _left(cpu, used_cpu + pod.scored[0]) + _left(memory, used_memory + pod.scored[1])
    return left // 2


def _left(have: int, used: int) -> int:
    return (have - used) * _BEST // have if have > 0 and used <= have else 0


def _preferred(pod: Wishes, room: Room) -> int:
    return sum(w for w, term in pod.preferred if term_matches(term, room.name, room.labels))
