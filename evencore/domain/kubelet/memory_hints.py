"""Which sets of NUMA nodes have room for some memory, and which of them is taken.

Kubernetes: cm/memorymanager/policy_static.go: calculateHints, getDefaultHint,
extendTopologyManagerHint, findBestHint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet.hints import Hints
from evencore.domain.kubelet.refusals import AllocateFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evencore.domain.kubelet.hints import Hint
    from evencore.domain.kubelet.machine import Machine, NUMAMask
    from evencore.domain.kubelet.memory_state import MemoryState

Reusable = dict["NUMAMask", int]
"""Bytes that init containers of the same pod leave to later containers, by NUMA nodes."""

_NO_NODES: Final = (
    "[memorymanager] failed to get the default NUMA affinity, "
    "no NUMA nodes with enough memory is available"
)


def memory_hints(
    machine: Machine, state: MemoryState, size: int | None, reusable: Mapping[NUMAMask, int]
) -> Hints | None:
    """Give hints for `size` bytes; None: no preference.

    Oddity: where CPUs say "cannot be", memory without room anywhere says "no preference", and
    the pod is refused only when it is allocated. `size` None: none is asked for.
    """
    if size is None:
        return None
    preferred: list[NUMAMask] = []
    others: list[NUMAMask] = []
    smallest = len(machine.numas)
    for subset in machine.subsets:  # small ones first
        nodes = subset.nodes
        if state.allocatable(nodes) < size:
            continue
        smallest = min(smallest, subset.size)
        if state.free(nodes) + reusable.get(nodes, 0) < size or state.is_bound(nodes):
            continue
        (preferred if subset.size == smallest else others).append(nodes)
    return Hints(preferred, lambda: others) if preferred or others else None


def choose_nodes(state: MemoryState, hints: Hints | None, size: int, hint: Hint) -> NUMAMask:
    """Find the nodes to take `size` bytes from, given the merged hint. Raises AllocateFailed.

    If the policy had no preference, the best of all is taken. A hint that has not enough room, as
    merging intersects, is extended to one that has.
    """
    if hint.nodes is None and hints is None:
        raise AllocateFailed(_NO_NODES)
    preferred: Iterable[NUMAMask] = hints.preferred if hints else ()
    every: Iterable[NUMAMask] = hints.every() if hints else ()
    nodes, is_preferred = hint
    if nodes is None:
        nodes = _best(preferred, every)
        if is_preferred and nodes not in preferred:
            raise AllocateFailed("[memorymanager] failed to find the default preferred hint")
        is_preferred = nodes in preferred
    if state.free(nodes) < size:
        larger = [one for one in every if not nodes & ~one]
        if not larger:
            raise AllocateFailed(
                "[memorymanager] failed to find NUMA nodes to extend the current topology hint"
            )
        nodes = _best([one for one in larger if one in preferred], larger)
        if is_preferred and nodes not in preferred:
            raise AllocateFailed("[memorymanager] failed to find the extended preferred hint")
    if state.refuses(nodes):
        raise AllocateFailed("[memorymanager] preferred hint violates NUMA node allocation")
    return nodes


def _best(preferred: Iterable[NUMAMask], every: Iterable[NUMAMask]) -> NUMAMask:
    return min(preferred or every, key=lambda nodes: (nodes.bit_count(), nodes))
