"""Choosing a node: which are looked at, and which of the best is taken.

Kubernetes rules (schedule_one.go): of more than 100 nodes only a part is searched, going on
where the last search ended; of equally good nodes the one found first is taken. The search is
parallel, so once in a while the first node in order is not the first found: measured on 100
equal nodes, 421 of 497 pods went to one node and all to 4. Hence the loop sticks to a node.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.scheduler.filters import Refusal, refusal
from simulator.scheduler.scores import Marks, marks, scores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from simulator.scheduler.rooms import Room
    from simulator.scheduler.wishes import Wishes

_ALL_UP_TO: Final = 100
_LEAST_PERCENT: Final = 5
_OVERTAKEN: Final = 76 / 497
_OVERTAKERS: Final = 3
_MOST_KINDS: Final = 100
"""Kinds of pods for which a node that never changes is remembered."""


class Choice(NamedTuple):
    """The node, or why there is none: refusals by name of the node."""

    room: Room | None
    refusals: dict[str, Refusal]
    looked_at: int


def enough(nodes: int) -> int:
    """Tell how many feasible nodes end the search (numFeasibleNodesToFind)."""
    if nodes <= _ALL_UP_TO:
        return nodes
    percent = max(_LEAST_PERCENT, 50 - nodes // 125)
    return max(_ALL_UP_TO, nodes * percent // 100)


def choose(pod: Wishes, rooms: Sequence[Room], start: int, random: Random) -> Choice:
    """Search `rooms` from place `start` on."""
    wanted, refusals = enough(len(rooms)), {}
    found: list[Room] = []
    marked: list[Marks] = []
    looked_at = 0
    for room in chain(islice(rooms, start, None), islice(rooms, start)):
        looked_at += 1
        verdict = room.known.get(pod.kind) or _look(pod, room)
        if isinstance(verdict, Refusal):
            refusals[room.name] = verdict
            continue
        found.append(room)
        marked.append(verdict)
        if len(found) == wanted:
            break
    if not found:
        return Choice(None, refusals, looked_at)
    points = scores(marked)
    most = max(points)
    best = [room for room, score in zip(found, points, strict=True) if score == most]
    return Choice(best[_first_found(len(best), random)], refusals, looked_at)


def _look(pod: Wishes, room: Room) -> Refusal | Marks:
    """Judge a node, and remember it for pods of the same kind: replicas mostly."""
    verdict = refusal(pod, room) or marks(pod, room)
    if len(room.known) == _MOST_KINDS:
        room.known.clear()
    room.known[pod.kind] = verdict
    return verdict


def _first_found(equals: int, random: Random) -> int:
    if equals == 1 or random.random() >= _OVERTAKEN:
        return 0
    return random.randint(1, min(_OVERTAKERS, equals - 1))
