"""Taking CPUs unit by unit: the order in which free units are looked at, and whole ones taken.

Kubernetes: cm/cpumanager/cpu_assignment.go: cpuAccumulator, numaFirst, socketsFirst. The order is
always the unit with the fewest free CPUs first, equal ones by id. If a NUMA node has a socket or
more, it goes NUMA node, socket, core; else socket, NUMA node, core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import cpuset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine, Unit


class Accumulator:
    """CPUs taken so far for one request, and those that may still be taken."""

    __slots__ = ("free", "machine", "needed", "taken")

    def __init__(self, machine: Machine, free: CPUSet, needed: int) -> None:
        self.machine, self.free, self.needed = machine, free, needed
        self.taken: CPUSet = 0

    @property
    def satisfied(self) -> bool:
        """Whether nothing is needed any more."""
        return self.needed < 1

    def take(self, cpus: CPUSet) -> None:
        """Take CPUs.

        A unit that lies in two larger ones is listed twice and may be counted twice here, as in
        the kubelet.
        """
        self.taken |= cpus
        self.free &= ~cpus
        self.needed -= cpus.bit_count()

    def numas(self) -> Sequence[Unit]:
        """List NUMA nodes with free CPUs (sortAvailableNUMANodes)."""
        if self.machine.numa_first:
            return self._sorted(self.machine.numa_units)
        by_socket = self.machine.numas_by_socket
        return [numa for socket in self.sockets() for numa in self._sorted(by_socket[socket.id])]

    def sockets(self) -> Sequence[Unit]:
        """List sockets with free CPUs (sortAvailableSockets)."""
        if not self.machine.numa_first:
            return self._sorted(self.machine.socket_units)
        by_numa = self.machine.sockets_by_numa
        return [socket for numa in self.numas() for socket in self._sorted(by_numa[numa.id])]

    def cores(self) -> Sequence[Unit]:
        """List cores with free CPUs (sortAvailableCores)."""
        if self.machine.numa_first:
            above, within = self.sockets(), self.machine.cores_by_socket
        else:
            above, within = self.numas(), self.machine.cores_by_numa
        return [core for unit in above for core in self._sorted(within[unit.id])]

    def l3s(self) -> Sequence[Unit]:
        """List L3 caches with free CPUs (sortAvailableUncoreCaches)."""
        by_numa = self.machine.l3s_by_numa
        return [l3 for numa in self.numas() for l3 in self._sorted(by_numa[numa.id])]

    def take_whole_numas(self) -> None:
        """Take NUMA nodes that are entirely free, as long as that many CPUs are needed."""
        self._take_whole(self.numas())

    def take_whole_sockets(self) -> None:
        """Take sockets that are entirely free, by the average size of a socket."""
        self._take_whole(self.sockets(), self.machine.cpus_per_socket)

    def take_whole_l3s(self) -> None:
        """Take L3 caches that are entirely free."""
        self._take_whole(self.l3s())

    def take_whole_cores(self) -> None:
        """Take cores that are entirely free, by the rounded number of threads of a core.

        Oddity: with one sibling offline on SMT2 that number is 1. Then a core counts of which one
        thread is free, and is taken with the other, whoever has that.
        """
        self._take_whole(self.cores(), self.machine.cpus_per_core)

    def take_singly(self, cpus: Iterable[int]) -> None:
        """Take CPUs one by one until there are enough (takeRemainingCPUs)."""
        for cpu in cpus:
            self.take(1 << cpu)
            if self.satisfied:
                return

    def cpus_by_core(self) -> Iterator[int]:
        """Iterate over free CPUs, core by core: half-free cores before free ones."""
        free = self.free
        return (cpu for core in self.cores() for cpu in cpuset.ids(core.whole & free))

    def cpus_by_socket(self) -> Iterator[int]:
        """Iterate over free CPUs by their ids inside each socket (sortAvailableCPUsSpread)."""
        free = self.free
        return (cpu for socket in self.sockets() for cpu in cpuset.ids(socket.whole & free))

    def _sorted(self, units: Sequence[Unit]) -> Sequence[Unit]:
        free = self.free
        if len(units) == 1:
            return units if free & units[0].inside else ()
        counted = [((free & unit[1]).bit_count(), unit) for unit in units if free & unit[2]]
        counted.sort()
        return [unit for _, unit in counted]

    def _take_whole(self, units: Sequence[Unit], size: int | None = None) -> None:
        """Take free units while so many CPUs are needed.

        Which units are free is decided before the first is taken.
        """
        free = self.free
        for _, whole, _ in units:
            if self.needed < 1:
                return
            space = whole.bit_count()
            if space <= self.needed and (free & whole).bit_count() == (size or space):
                self.take(whole)
