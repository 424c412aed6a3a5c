"""Memory per NUMA node: what is free, and which nodes are bound together by an allocation.

Kubernetes: cm/memorymanager/state, and in policy_static.go: updateMachineState, releaseMemory,
isAffinityViolatingNUMAAllocations. In bytes. One kind of memory: hugepages are not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evencore.domain.kubelet import cpuset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evencore.domain.kubelet.machine import NUMAMask


@dataclass(slots=True)
class Block:
    """Memory of one container, from some NUMA nodes together."""

    nodes: NUMAMask
    size: int


@dataclass(slots=True)
class MemoryNode:
    """One NUMA node. `cells`: the nodes of the allocations that it takes part in."""

    allocatable: int
    free: int
    cells: NUMAMask
    reserved: int = 0
    assignments: int = 0


class MemoryState:
    """The NUMA nodes of a machine."""

    def __init__(self, total: Sequence[int], reserved: Sequence[int]) -> None:
        self.nodes = [
            MemoryNode(whole - kept, whole - kept, 1 << id_)
            for id_, (whole, kept) in enumerate(zip(total, reserved, strict=True))
        ]

    def free(self, nodes: NUMAMask) -> int:
        """Add up what is free."""
        return sum(self.nodes[node].free for node in cpuset.ids(nodes))

    def allocatable(self, nodes: NUMAMask) -> int:
        """Add up what there is for pods, in use or not."""
        return sum(self.nodes[node].allocatable for node in cpuset.ids(nodes))

    def is_bound(self, nodes: NUMAMask) -> bool:
        """Tell whether nodes cannot be a hint, as they are bound to others or on their own.

        A node of allocations over several nodes is no hint by itself; and see `refuses`.
        """
        if nodes.bit_count() == 1:
            return self.nodes[nodes.bit_length() - 1].cells != nodes
        return self.refuses(nodes)

    def refuses(self, nodes: NUMAMask) -> bool:
        """Tell whether several nodes cannot be allocated from together.

        A node of single-node allocations cannot take part, nor one that is bound to other nodes
        than these. Oddity: a single node is not asked about here, bound or not.
        """
        if nodes.bit_count() == 1:
            return False
        members = (self.nodes[node] for node in cpuset.ids(nodes))
        return any(node.assignments and node.cells != nodes for node in members)

    def is_of(self, blocks: Iterable[Block]) -> bool:
        """Tell whether these blocks, taken anew, lead here (areMachineStatesEqual)."""
        anew = MemoryState([node.allocatable for node in self.nodes], [0] * len(self.nodes))
        for block in blocks:
            anew.take(block, block.size)
        return self._books() == anew._books()

    def _books(self) -> list[tuple[int, NUMAMask, int, int]]:
        """List what must be the same. How a group counts its memory out among its nodes is not."""
        return [
            (
                node.assignments,
                node.cells,
                self.free(node.cells),
                sum(self.nodes[id_].reserved for id_ in cpuset.ids(node.cells)),
            )
            for node in self.nodes
        ]

    def take(self, block: Block, size: int) -> None:
        """Bind nodes together and take `size` from them, lowest node first."""
        for id_ in cpuset.ids(block.nodes):
            node = self.nodes[id_]
            node.assignments += 1
            node.cells = block.nodes
            part = min(size, node.free)
            node.free -= part
            node.reserved += part
            size -= part

    def release(self, block: Block) -> None:
        """Give a block back; a node without any allocation stands for itself again."""
        size = block.size
        for id_ in cpuset.ids(block.nodes):
            node = self.nodes[id_]
            node.assignments -= 1
            if not node.assignments:
                node.cells = 1 << id_
            part = min(size, node.reserved)
            node.free += part
            node.reserved -= part
            size -= part
