"""Which NUMA nodes would do for a number of CPUs, and what the Topology Manager makes of it.

Kubernetes: policy_static.go:generateCPUTopologyHints and topologymanager/policy*.go, for one
provider of hints: CPUs. Memory and devices have none here.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

NONE: Final = "none"
BEST_EFFORT: Final = "best-effort"
RESTRICTED: Final = "restricted"
SINGLE: Final = "single-numa-node"


class Hint(NamedTuple):
    """A set of NUMA nodes, and whether it is as small as the machine allows."""

    nodes: frozenset[int]
    preferred: bool


class Verdict(NamedTuple):
    """Whether the Topology Manager admits, and the nodes to take CPUs from first."""

    admitted: bool
    nodes: frozenset[int] | None  # None: no matter which


def hints_for(
    request: int,
    totals: Mapping[int, int],
    available: Mapping[int, int],
    pinned: Collection[int] = (),
) -> list[Hint]:
    """Give all sets of nodes that have `request` CPUs available.

    Kubernetes rules: a set is preferred if it is of the smallest size whose CPUs, used or not,
    would be enough; it must contain the nodes of CPUs that are taken over (`pinned`).
    """
    smallest = next(
        (len(nodes) for nodes in _subsets(totals) if sum(totals[n] for n in nodes) >= request),
        0,
    )
    return [
        Hint(frozenset(nodes), len(nodes) == smallest)
        for nodes in _subsets(totals)
        if sum(available[n] for n in nodes) >= request and frozenset(pinned) <= frozenset(nodes)
    ]


def judge(policy: str, hints: list[Hint] | None, all_nodes: frozenset[int]) -> Verdict:
    """Apply a policy; hints None: no preference, an empty list: cannot be satisfied."""
    if policy == NONE or hints is None:
        return Verdict(admitted=True, nodes=None)
    if policy == SINGLE:
        hints = [hint for hint in hints if hint.preferred and len(hint.nodes) == 1]
    if not hints:
        return Verdict(policy == BEST_EFFORT, all_nodes)
    best = min(hints, key=_order)
    return Verdict(best.preferred or policy == BEST_EFFORT, best.nodes)


def _order(hint: Hint) -> tuple[bool, int, int]:
    """Kubernetes rule: preferred, then fewer nodes, then the smaller bit mask as a number."""
    return not hint.preferred, len(hint.nodes), sum(1 << node for node in hint.nodes)


def _subsets(nodes: Collection[int]) -> Iterator[tuple[int, ...]]:
    ordered = sorted(nodes)
    return chain.from_iterable(combinations(ordered, n) for n in range(1, len(ordered) + 1))
