"""A machine guessed from what is told of it: CPUs of each NUMA node, threads per core, distances.

What is made up decides about no verdict: which numbers CPUs have, and which of them are reserved.
Sockets are told apart by distances; where these are all alike, each NUMA node is one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.machine import Core, Machine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evencore.domain.kubelet.cpuset import CPUSet


class Numa(NamedTuple):
    """One NUMA node: all its CPUs, and how many of them can be given out exclusively."""

    id: int
    cpus: int
    given: int
    distances: Mapping[int, int]


def machine_of(numas: tuple[Numa, ...], width: int) -> Machine | None:
    """Build it with so many threads per core; None: it has no whole number of cores.

    Nodes that are alike share one: most of a cluster are.
    """
    if any(numa.cpus % width for numa in numas):
        return None
    shape = tuple((n.id, n.cpus, tuple(sorted(n.distances.items()))) for n in numas)
    return _built(shape, width)


_Shape = tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...]  # id, CPUs, distances


@lru_cache(maxsize=256)
def _built(shape: _Shape, width: int) -> Machine:
    numas = [Numa(id_, cpus, 0, dict(distances)) for id_, cpus, distances in shape]
    sockets = _sockets(numas)
    total = sum(numa.cpus for numa in numas) // width
    numbers = iter(range(total))
    cores = tuple(
        Core(
            numa.id,
            sockets[numa.id],
            numa.id,
            tuple(core + thread * total for thread in range(width)),
        )
        for numa in numas
        for core in (next(numbers) for _ in range(numa.cpus // width))
    )
    # The kubelet looks distances up by number; with gaps between the numbers there are none here.
    gapless = [numa.id for numa in numas] == list(range(len(numas)))
    known = gapless and all(len(numa.distances) == len(numas) for numa in numas)
    rows = (tuple(numa.distances[other.id] for other in numas) for numa in numas if known)
    return Machine(cores, tuple(rows))


def reserved_in(machine: Machine, numas: tuple[Numa, ...]) -> CPUSet:
    """Choose what is kept from pods: the lowest cores of each NUMA node, thread by thread."""
    found = 0
    for numa in numas:
        cpus = [cpu for core in machine.cores_by_numa[numa.id] for cpu in cpuset.ids(core.whole)]
        found |= cpuset.of(cpus[: numa.cpus - numa.given])
    return found


def _sockets(numas: Sequence[Numa]) -> dict[int, int]:
    """Put NUMA nodes into sockets: within one they are nearer to each other than to others."""
    between = {d for numa in numas for other, d in numa.distances.items() if other != numa.id}
    far = max(between) if len(between) > 1 else 0
    found: dict[int, int] = {}
    for numa in numas:
        near = [other for other, d in numa.distances.items() if d < far and other in found]
        found[numa.id] = found[min(near)] if near else numa.id
    return found
