"""Hints: sets of NUMA nodes that could give what a container or pod asks for.

Kubernetes: cm/topologymanager: TopologyHint; cm/cpumanager/policy_static.go:
generateCPUTopologyHints. A provider without preference gives None instead of hints; hints without
any set say "cannot be".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import filterfalse
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine, NodeSubset, NUMAMask


class Hint(NamedTuple):
    """The one that all providers' hints were merged into."""

    nodes: NUMAMask | None  # None: any
    preferred: bool


UNKNOWN: Final = Hint(None, preferred=False)
"""What managers see when the policy is none."""


@dataclass(frozen=True, slots=True)
class Hints:
    """The sets that would do. Those that are not preferred are found only when asked for."""

    preferred: Collection[NUMAMask]
    others: Callable[[], Collection[NUMAMask]] = tuple

    def every(self) -> list[NUMAMask]:
        """Give all sets."""
        return [*self.preferred, *self.others()]


IMPOSSIBLE: Final = Hints(())


def cpu_hints(
    machine: Machine, free: CPUSet, reusable: CPUSet, count: int, *, by_socket: bool
) -> Hints:
    """Give all sets of NUMA nodes where `count` CPUs are free or can be taken over.

    Preferred are sets of the smallest size that would do on an empty machine. Oddity: reserved
    CPUs count for that, though no pod can have them. Oddity: a set must have all nodes of the
    reusable CPUs in it, or it is no hint, so that an init container ties its pod to its nodes.
    `by_socket` (align-by-socket): and those that touch no more sockets than they must.
    """
    missing = count - reusable.bit_count()

    def fitting(subsets: Iterable[NodeSubset]) -> list[NUMAMask]:
        return [
            nodes
            for nodes, cpus, *_ in subsets
            if (free & cpus).bit_count() >= missing and not reusable & ~cpus
        ]

    size = machine.fewest_numas(count)
    sockets = -(-size // (len(machine.numas) // len(machine.sockets))) if by_socket else 0

    def preferred(one: NodeSubset) -> bool:
        return one.size == size or one.sockets == sockets

    chosen = filter(preferred, machine.subsets) if by_socket else machine.subsets_of(size)
    return Hints(fitting(chosen), lambda: fitting(filterfalse(preferred, machine.subsets)))
