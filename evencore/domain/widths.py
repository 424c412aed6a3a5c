"""For which width a pod is aligned, and where it can run then: rungs 1 and 2 before any rejection.

Pods come in crowds that ask for the same, a looping owner's above all: what was worked out for one
is kept with the nodes that it holds for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.alignment import Alignment, align
from evencore.domain.fit import Fit, fitting, need_of

if TYPE_CHECKING:
    from evencore.domain.policy import CpuMode
    from evencore.domain.resources import ContainerAmounts
    from evencore.domain.snapshot import Maxima, Nodes

MOST_KEPT: Final = 512
"""Answers kept for the same nodes."""
MOST_CONTAINERS: Final = 16
LONGEST_NAME: Final = 63
"""Characters. What is kept is about such pods only, 10 KiB each at most: anybody may ask about one
of 100,000 containers, and no pod with a longer name comes into being."""


class Asking(NamedTuple):
    """All that the answer depends on, but for the nodes."""

    containers: tuple[ContainerAmounts, ...]
    modes: tuple[CpuMode, ...]  # one for each container
    eligible: int  # the nodes that the pod's author allows
    maximum: Maxima
    round_from: int  # thousandths
    default_width: int  # where no node is known


class Aligned(NamedTuple):
    """What rung 1 does to a pod, and where it can run then."""

    alignment: Alignment
    fit: Fit


def best_alignment(nodes: Nodes, asking: Asking) -> Aligned:
    """Align for the commonest width on which the pod can run; for the commonest if on none.

    Ties go to the larger width, which also suits the smaller ones.
    """
    known = nodes.aligned
    found = known.get(asking)
    if found is None:
        found = _best(nodes, asking)
        if _ordinary(asking):
            if len(known) >= MOST_KEPT:
                known.clear()
            known[asking] = found
    return found


def _ordinary(asking: Asking) -> bool:
    return len(asking.containers) <= MOST_CONTAINERS and all(
        len(container.name) <= LONGEST_NAME for container in asking.containers
    )


def _best(nodes: Nodes, asking: Asking) -> Aligned:
    containers, modes, eligible, maximum, round_from, default_width = asking
    common = [
        ((having & eligible).bit_count(), width)
        for width, having in nodes.widths.items()
        if having & eligible
    ]
    common.sort(reverse=True)
    tried = []
    for _, width in common or [(0, default_width)]:
        alignment = align(containers, modes, width, round_from, maximum)
        need = need_of(alignment.result)
        tried.append(Aligned(alignment, Fit(need, eligible, fitting(nodes, need, eligible))))
        if tried[-1].fit.fits:
            return tried[-1]
    return tried[0]
