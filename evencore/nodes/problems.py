"""What is wrong with nodes though nothing contradicts itself."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from evencore.domain.text import count, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evencore.domain.topology import NodeFacts

_SOME_NAMES: Final = 3


def split_cores(
    node: str, width: int | None, numa: Sequence[int], size: tuple[int, int] | None
) -> str | None:
    """Say that the CPUs reserved on a node split a core; None = they do not, or nobody can tell.

    Kubelet rule (cm/cpumanager/policy_static.go): as many CPUs are reserved as capacity is above
    allocatable, rounded up. With a split core full-pcpus-only gives out half cores, or none.
    `size`: capacity and allocatable in thousandths.
    """
    if width is None:
        return None
    cure = f"reserve whole cores (reservedSystemCPUs): {count(width, 'CPU')} each"
    if any(cpus % width for cpus in numa):
        sizes = one_of(numa, last="and")
        return (
            f"node {node}: {sizes} CPUs on its NUMA nodes are not whole cores of "
            f"{count(width, 'thread')}: the reserved CPUs split a core; {cure}"
        )
    if size is None or numa:
        return None
    reserved = -(-(size[0] - size[1]) // 1000)
    if reserved > 0 and reserved % width:
        return (
            f"node {node}: {count(reserved, 'reserved CPU')} split a core of "
            f"{count(width, 'thread')}; {cure}"
        )
    return None


def mixed_widths(nodes: Iterable[NodeFacts]) -> str | None:
    """Say that nodes have cores of different widths; None = they do not, as far as is known."""
    by_width: defaultdict[int, list[str]] = defaultdict(list)
    for node in nodes:
        if node.width is not None and node.checks_alignment:
            by_width[node.width].append(node.name)
    if len(by_width) < 2:  # noqa: PLR2004  two are needed to differ
        return None
    parts = [
        f"{count(width, 'thread')} per core on {_some(found)}"
        for width, found in sorted(by_width.items())
    ]
    return (
        f"mixed widths: {'; '.join(parts)}. A pod that may use several is aligned for the "
        "commonest: choose nodes by nodeSelector for pods that need another"
    )


def _some(found: Sequence[str]) -> str:
    rest = len(found) - _SOME_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    return f"{', '.join(found[:_SOME_NAMES])}{more}"
