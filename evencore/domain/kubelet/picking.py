"""Which CPUs are picked: the options of the static policy, and the NUMA nodes of the hint first.

Kubernetes: cm/cpumanager/policy_static.go: takeByTopology, allocateCPUs, getAlignedCPUs, and the
reserved CPUs of NewStaticPolicy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet import config as options
from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.distributed import take_distributed
from evencore.domain.kubelet.packed import take_packed
from evencore.domain.kubelet.refusals import AllocateFailed
from evencore.domain.kubelet.start import of_static_policy

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine, NUMAMask


class Picker:
    """One machine with some options."""

    def __init__(self, machine: Machine, config: Config) -> None:
        self._machine = machine
        on = config.cpu_options
        self._across_numa = options.DISTRIBUTE_ACROSS_NUMA in on
        self._group = machine.cpus_per_core if options.FULL_PCPUS_ONLY in on else 1
        self._spread = options.DISTRIBUTE_ACROSS_CORES in on
        self._by_l3 = options.PREFER_L3 in on
        self._near = machine.in_sockets_of if options.ALIGN_BY_SOCKET in on else machine.in_numas

    def pick(self, free: CPUSet, count: int) -> CPUSet:
        """Pick `count` of the free CPUs. Raises AllocateFailed."""
        if self._across_numa:
            return take_distributed(self._machine, free, count, self._group)
        return take_packed(self._machine, free, count, spread=self._spread, by_l3=self._by_l3)

    def pick_near(self, nodes: NUMAMask | None, free: CPUSet, count: int) -> CPUSet:
        """Pick CPUs of some NUMA nodes first, what is missing from anywhere. None: no matter which.

        With align-by-socket the whole sockets of the nodes come first. Raises AllocateFailed,
        with the number that is missing then.
        """
        if nodes is None:
            return self.pick(free, count)
        aligned = free & self._near(nodes)
        taken = self.pick(aligned, min(count, aligned.bit_count()))
        missing = count - taken.bit_count()
        return taken | self.pick(free & ~taken, missing) if missing else taken

    def reserve(self, config: Config) -> CPUSet:
        """Pick the CPUs that are never given out: those named, else an amount, rounded up.

        An amount is picked as a container's CPUs are. Raises StartError.
        """
        named = config.reserved_cpus
        for unknown in cpuset.ids(named & ~self._machine.cpus):
            raise of_static_policy(
                "[cpumanager] unable to build the reserved physical CPUs from the reserved set: "
                f"unknown CPU ID: {unknown}"
            )
        if named:
            return named
        count = -(-config.reserved_millis // 1000)
        try:
            return self.pick(self._machine.cpus, count)
        except AllocateFailed as error:
            raise of_static_policy(
                "[cpumanager] unable to reserve the required amount of CPUs "
                f"(size of  did not equal {count})"
            ) from error
