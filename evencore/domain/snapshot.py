"""What a decision may look at: the cluster at one moment, read only.

Built from views at the edges; each part is replaced whole when what it holds changed, so that a
decision that runs meanwhile still sees one consistent picture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evencore.domain.ledger import Ledger
from evencore.domain.quantity import QuantityError, parse_millis
from evencore.domain.resources import CPU
from evencore.domain.selectors import NodeIndex
from evencore.domain.views import NamespaceView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evencore.domain.topology import NodeFacts
    from evencore.domain.views import LimitRangeView
    from evencore.domain.widths import Aligned, Asking


class Nodes:
    """The nodes and, as bit sets over them, what they have in common."""

    def __init__(self, facts: Iterable[NodeFacts] = ()) -> None:
        self.facts = tuple(sorted(facts, key=lambda f: f.name))
        self.index = NodeIndex([(f.name, f.labels) for f in self.facts])
        self.widths: dict[int, int] = defaultdict(int)
        self.max_container: dict[int, int] = defaultdict(int)
        self.max_pod: dict[int, int] = defaultdict(int)
        self.aligned: dict[Asking, Aligned] = {}  # what was worked out for these nodes
        self.unchecked = 0  # nodes known to run without full-pcpus-only
        for position, node in enumerate(self.facts):
            bit = 1 << position
            for value, by_value in (
                (node.width, self.widths),
                (node.max_container, self.max_container),
                (node.max_pod, self.max_pod),
            ):
                if value is not None:
                    by_value[value] |= bit
            if not node.checks_alignment:
                self.unchecked |= bit

    def within(self, mask: int) -> Iterator[NodeFacts]:
        """Iterate over the nodes of a bit set."""
        while mask:
            low = mask & -mask
            yield self.facts[low.bit_length() - 1]
            mask ^= low

    @cached_property
    def by_name(self) -> Mapping[str, NodeFacts]:
        """The nodes by their names."""
        return {f.name: f for f in self.facts}


class CpuMaximum(NamedTuple):
    """The lowest CPU maximum that a namespace's LimitRanges set for one thing."""

    millis: int
    limit_range: str


class Maxima(NamedTuple):
    """What the LimitRanges of a namespace allow at most."""

    container: CpuMaximum | None = None
    pod: CpuMaximum | None = None


def maxima(limit_ranges: Iterable[LimitRangeView]) -> dict[str, Maxima]:
    """Read the CPU maxima of each namespace from its LimitRanges; odd values do not count."""
    found: dict[str, dict[str, CpuMaximum]] = {}
    for view in limit_ranges:
        meta = view.metadata
        if meta is None or view.spec is None:
            continue
        lowest = found.setdefault(meta.namespace or "", {})
        for item in view.spec.limits or ():
            try:
                millis = parse_millis((item.max or {})[CPU])
            except (KeyError, QuantityError):
                continue
            maximum = CpuMaximum(millis, meta.name or "")
            kind = item.type or ""
            lowest[kind] = min(lowest.get(kind, maximum), maximum)
    return {
        namespace: Maxima(lowest.get("Container"), lowest.get("Pod"))
        for namespace, lowest in found.items()
    }


class Snapshot(Struct, frozen=True):
    """The cluster as far as a decision may look at it. Empty = nothing is known."""

    nodes: Nodes = field(default_factory=Nodes)
    namespaces: Mapping[str, NamespaceView] = field(default_factory=dict)
    maxima: Mapping[str, Maxima] = field(default_factory=dict)  # by namespace
    # These two go on changing: rejections, and room that appears, are to be known at once.
    # `rooms` is for looking up: it may change under who goes through it.
    evidence: Ledger = field(default_factory=Ledger)
    rooms: Mapping[str, datetime] = field(default_factory=dict)  # node → more room since
