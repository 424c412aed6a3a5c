"""The hardware as the kubelet knows it: CPUs in cores, L3 caches, sockets and NUMA nodes.

Kubernetes: cm/cpumanager/topology/topology.go, made from what cadvisor finds. Values only: built
once, never changed. Masks are CPU sets; sets of NUMA nodes are integers too, bit n for node n.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.kubelet import cpuset

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.domain.kubelet.cpuset import CPUSet

NUMAMask = int


class Core(NamedTuple):
    """A physical core: where it is, and its logical CPUs that are online."""

    numa: int
    socket: int
    l3: int | None  # None: no L3 id is reported for it
    cpus: tuple[int, ...]

    @property
    def id(self) -> int:
        """The kubelet names a core by its lowest CPU (getUniqueCoreID)."""
        return min(self.cpus)


class Unit(NamedTuple):
    """A NUMA node, socket, L3 cache or core, or the part of one that lies in another."""

    id: int
    whole: CPUSet
    inside: CPUSet


class NodeSubset(NamedTuple):
    """Some NUMA nodes together."""

    nodes: NUMAMask
    cpus: CPUSet
    size: int  # number of nodes
    total: int  # number of CPUs, free or not
    sockets: int  # number of sockets that the nodes have a part in


@dataclass(frozen=True)
class Machine:
    """One machine. Its NUMA nodes need not be numbered without gaps."""

    cores: tuple[Core, ...]
    distances: tuple[tuple[int, ...], ...] = ()  # between NUMA nodes; empty: all alike
    memory: tuple[int, ...] = ()  # bytes per NUMA node, by id; empty: never short
    numas: dict[int, CPUSet] = field(init=False, repr=False, compare=False)
    sockets: dict[int, CPUSet] = field(init=False, repr=False, compare=False)
    l3s: dict[int, CPUSet] = field(init=False, repr=False, compare=False)
    core_sets: dict[int, CPUSet] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort the CPUs into units. A core without L3 id counts to that of its socket's number."""
        for name, unit_of in _UNITS.items():
            units: dict[int, CPUSet] = {}
            for core in self.cores:
                unit = unit_of(core)
                units[unit] = units.get(unit, 0) | cpuset.of(core.cpus)
            object.__setattr__(self, name, dict(sorted(units.items())))

    @cached_property
    def cpus(self) -> CPUSet:
        """All that are online."""
        return cpuset.of(cpu for core in self.cores for cpu in core.cpus)

    @cached_property
    def cpus_per_core(self) -> int:
        """Threads per core, rounded down.

        Oddity: one offline sibling makes it 1 on SMT2, and full-pcpus-only then checks nothing.
        """
        return self.cpus.bit_count() // len(self.cores)

    @cached_property
    def cpus_per_socket(self) -> int:
        """Average, rounded down."""
        return self.cpus.bit_count() // len(self.sockets)

    @cached_property
    def cpus_per_l3(self) -> int:
        """Average, rounded down."""
        return self.cpus.bit_count() // len(self.l3s)

    @cached_property
    def smallest_numa(self) -> int:
        """CPUs of the smallest NUMA node."""
        return min(cpus.bit_count() for cpus in self.numas.values())

    @cached_property
    def smallest_socket(self) -> int:
        """CPUs of the smallest socket."""
        return min(cpus.bit_count() for cpus in self.sockets.values())

    @cached_property
    def numa_first(self) -> bool:
        """Whether NUMA nodes stand above sockets: a node has one socket or more."""
        return len(self.sockets) >= len(self.numas)

    @cached_property
    def all_nodes(self) -> NUMAMask:
        """The set of all NUMA nodes."""
        return cpuset.of(self.numas)

    @cached_property
    def subsets(self) -> tuple[NodeSubset, ...]:
        """All sets of NUMA nodes, by size, then in the order of their ids (IterateBitMasks)."""
        found = []
        for size in range(1, len(self.numas) + 1):
            for nodes in combinations(self.numas, size):
                mask = cpuset.of(nodes)
                cpus = self.in_numas(mask)
                sockets = sum(1 for socket in self.sockets.values() if socket & cpus)
                found.append(NodeSubset(mask, cpus, size, cpus.bit_count(), sockets))
        return tuple(found)

    @cached_property
    def _by_size(self) -> tuple[tuple[NodeSubset, ...], ...]:
        sizes = range(len(self.numas) + 1)
        return tuple(tuple(s for s in self.subsets if s.size == size) for size in sizes)

    @cached_property
    def _most_by_size(self) -> tuple[int, ...]:
        return tuple(max((s.total for s in some), default=0) for some in self._by_size)

    def subsets_of(self, size: int) -> tuple[NodeSubset, ...]:
        """Give the sets of `size` NUMA nodes."""
        return self._by_size[size]

    def fewest_numas(self, cpus: int) -> int:
        """Tell how many NUMA nodes have that many CPUs, free or not; all if none have."""
        for size, most in enumerate(self._most_by_size):
            if most >= cpus:
                return size
        return len(self.numas)

    def in_numas(self, nodes: NUMAMask) -> CPUSet:
        """Give the CPUs of some NUMA nodes."""
        found = 0
        for node in cpuset.ids(nodes):
            found |= self.numas[node]
        return found

    def in_sockets_of(self, nodes: NUMAMask) -> CPUSet:
        """Give all CPUs of the sockets that some NUMA nodes have a part in."""
        inside, found = self.in_numas(nodes), 0
        for cpus in self.sockets.values():
            found |= cpus if cpus & inside else 0
        return found

    def cores_of(self, cpus: CPUSet) -> CPUSet:
        """Give all threads of the cores that these CPUs touch."""
        found = 0
        for whole in self.core_sets.values():
            found |= whole if whole & cpus else 0
        return found

    @cached_property
    def numas_by_socket(self) -> dict[int, tuple[Unit, ...]]:
        """NUMA nodes that have a part in each socket."""
        return _within(self.numas, self.sockets)

    @cached_property
    def sockets_by_numa(self) -> dict[int, tuple[Unit, ...]]:
        """Sockets that have a part in each NUMA node."""
        return _within(self.sockets, self.numas)

    @cached_property
    def l3s_by_numa(self) -> dict[int, tuple[Unit, ...]]:
        """L3 caches that have a part in each NUMA node."""
        return _within(self.l3s, self.numas)

    @cached_property
    def cores_by_l3(self) -> dict[int, tuple[Unit, ...]]:
        """Cores of each L3 cache."""
        return _within(self.core_sets, self.l3s)

    @cached_property
    def cores_by_numa(self) -> dict[int, tuple[Unit, ...]]:
        """Cores of each NUMA node."""
        return _within(self.core_sets, self.numas)

    @cached_property
    def cores_by_socket(self) -> dict[int, tuple[Unit, ...]]:
        """Cores of each socket."""
        return _within(self.core_sets, self.sockets)

    @cached_property
    def numa_units(self) -> tuple[Unit, ...]:
        """NUMA nodes of the machine."""
        return tuple(Unit(id_, cpus, cpus) for id_, cpus in self.numas.items())

    @cached_property
    def socket_units(self) -> tuple[Unit, ...]:
        """Sockets of the machine."""
        return tuple(Unit(id_, cpus, cpus) for id_, cpus in self.sockets.items())


_UNITS: dict[str, Callable[[Core], int]] = {
    "numas": lambda core: core.numa,
    "sockets": lambda core: core.socket,
    "l3s": lambda core: core.socket if core.l3 is None else core.l3,
    "core_sets": lambda core: core.id,
}


def _within(small: dict[int, CPUSet], large: dict[int, CPUSet]) -> dict[int, tuple[Unit, ...]]:
    return {
        outer: tuple(Unit(id_, cpus, cpus & space) for id_, cpus in small.items() if cpus & space)
        for outer, space in large.items()
    }
