"""Merging the hints of all providers into one, and what each topology policy makes of it.

Kubernetes: cm/topologymanager/policy.go: HintMerger, policy_*.go, numa_info.go: Closest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.hints import Hint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from evencore.domain.kubelet.hints import Hints
    from evencore.domain.kubelet.machine import Machine, NUMAMask

NONE: Final = "none"
BEST_EFFORT: Final = "best-effort"
RESTRICTED: Final = "restricted"
SINGLE_NUMA_NODE: Final = "single-numa-node"


class Merger:
    """One topology policy on one machine."""

    def __init__(self, policy: str, machine: Machine, *, closest: bool = False) -> None:
        self._policy, self._all_nodes = policy, machine.all_nodes
        # Kubernetes rule: prefer-closest-numa-nodes is without effect for single-numa-node.
        nearest = closest and policy != SINGLE_NUMA_NODE
        self._order: Callable[[NUMAMask], tuple[float, ...]]
        self._order = _by_distance(machine.distances) if nearest else _by_size

    def merge(self, answers: Sequence[Hints | None]) -> Hint | None:
        """Merge the answers of the providers; None: the policy does not admit.

        Providers without preference change nothing.
        """
        given = [answer for answer in answers if answer is not None]
        best = self._preferred(given)
        if best is not None:
            any_ = self._policy == SINGLE_NUMA_NODE and best == self._all_nodes
            return Hint(None if any_ else best, preferred=True)
        if self._policy == BEST_EFFORT:
            return Hint(self._best_other(given), preferred=False)
        return None

    def _preferred(self, given: list[Hints]) -> NUMAMask | None:
        """Choose among the sets that all providers prefer.

        Oddity: of equally many NUMA nodes the set wins that is less as a number, so that {1,2}
        goes before {0,3}, though the comment there says lower nodes.
        """
        if not given:
            return self._all_nodes
        common: Collection[NUMAMask] = given[0].preferred
        for hints in given[1:]:
            common = [nodes for nodes in common if nodes in hints.preferred]
        if self._policy == SINGLE_NUMA_NODE:
            common = [nodes for nodes in common if nodes.bit_count() == 1]
        return min(common, key=self._order, default=None)

    def _best_other(self, given: list[Hints]) -> NUMAMask:
        """Choose among what any sets of the providers have in common, one set of each.

        Best are as many NUMA nodes as the most demanding provider needs; else fewer, as close as
        possible; else more, as few as possible (BestNonPreferredAffinityCount).
        """
        merged, wanted = {self._all_nodes}, 0
        for hints in given:
            every = hints.every()
            wanted = max(wanted, min((nodes.bit_count() for nodes in every), default=0))
            merged = {one & nodes for one in merged for nodes in every or [self._all_nodes]}

        def order(nodes: NUMAMask) -> tuple[float, ...]:
            off = nodes.bit_count() - wanted
            return off > 0, abs(off), *self._order(nodes)

        return min(filter(None, merged), key=order, default=self._all_nodes)


def _by_size(nodes: NUMAMask) -> tuple[float, ...]:
    return nodes.bit_count(), nodes


def _by_distance(distances: Sequence[Sequence[int]]) -> Callable[[NUMAMask], tuple[float, ...]]:
    """Order sets of one size by the average distance between their nodes, own ones included."""

    def order(nodes: NUMAMask) -> tuple[float, ...]:
        members = list(cpuset.ids(nodes))
        total = sum(distances[one][other] for one in members for other in members)
        return len(members), total / len(members) ** 2, nodes

    return order
