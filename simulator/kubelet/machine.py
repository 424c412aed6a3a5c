"""A machine: which logical CPUs it has, in which core and NUMA node each is. Values only.

Kubernetes: cadvisor's topology, as `cm/cpumanager/topology` sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CPUs = frozenset[int]


class Place(NamedTuple):
    """Where a CPU is; a core is named by its lowest CPU."""

    core: int
    numa: int


@dataclass(frozen=True)
class Machine:
    """CPUs by id."""

    places: Mapping[int, Place]
    threads_per_core: int

    @cached_property
    def cpus(self) -> CPUs:
        """All of them."""
        return frozenset(self.places)

    @cached_property
    def numa_nodes(self) -> tuple[int, ...]:
        """Ids of the NUMA nodes."""
        return tuple(sorted({place.numa for place in self.places.values()}))

    def within(self, nodes: Iterable[int]) -> CPUs:
        """Give the CPUs of some NUMA nodes."""
        wanted = frozenset(nodes)
        return frozenset(cpu for cpu, place in self.places.items() if place.numa in wanted)

    def numa_of(self, cpus: Iterable[int]) -> frozenset[int]:
        """Tell in which NUMA nodes CPUs are."""
        return frozenset(self.places[cpu].numa for cpu in cpus)

    def cores_of(self, cpus: Iterable[int]) -> CPUs:
        """Give all threads of the cores that these CPUs touch."""
        touched = {self.places[cpu].core for cpu in cpus}
        return frozenset(cpu for cpu, place in self.places.items() if place.core in touched)


def build(
    *, cores: int, threads_per_core: int, numa_nodes: int, interleaved: bool, adjacent: bool
) -> Machine:
    """Make a machine whose CPUs are numbered as a firmware would.

    `interleaved`: neighbouring cores lie in different NUMA nodes (two nodes: even and odd).
    `adjacent`: threads of a core have neighbouring numbers, else they are `cores` apart.
    """
    places = {}
    for core in range(cores):
        numa = core % numa_nodes if interleaved else core * numa_nodes // cores
        first = core * threads_per_core if adjacent else core
        for thread in range(threads_per_core):
            places[first + thread * (1 if adjacent else cores)] = Place(first, numa)
    return Machine(places, threads_per_core)


def parse_cpus(text: str) -> CPUs:
    """Read a list of CPUs as the kubelet writes it: 0-3,8. Raises ValueError."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError("write CPUs as the kubelet does, such as 0-1,24")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
