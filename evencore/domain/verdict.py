"""What the rejections of one owner mean for its next pod. So far rung 3: exclusion."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evencore.domain.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from evencore.domain.policy import Exclusions
    from evencore.domain.rejection import Rejection


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A node that is kept from an owner's next pods, and why and how long."""

    node: str
    until: datetime
    reason: str
    rejections: int

    @property
    def sentence(self) -> str:
        """The exclusion in words: "not on n1 until 10:42Z: TopologyAffinityError, 2 rejections"."""
        until = f"{self.until:%H:%MZ}"
        times = count(self.rejections, "rejection")
        return f"not on {self.node} until {until}: {self.reason}, {times}"


def exclusions(
    rejections: Iterable[Rejection], now: datetime, times: Exclusions
) -> list[Exclusion]:
    """Return the nodes that are excluded for the owner of these rejections, longest first.

    A node is excluded for `times.initial` * 2^(rejections there - 1) after the newest rejection,
    at most `times.maximum`. One that does not say when it happened, or says a time to come (clocks
    differ), counts as of now.
    """

    def at(rejection: Rejection) -> datetime:
        return rejection.at or now

    by_node: defaultdict[str, dict[str, Rejection]] = defaultdict(dict)
    for rejection in rejections:
        if rejection.kind.excludes:
            by_node[rejection.node][rejection.uid] = rejection
    found = []
    for node, there in by_node.items():
        newest = max(there.values(), key=at)
        doublings = min(len(there) - 1, 16)  # 2^16 times anything is above any maximum
        until = min(at(newest), now) + min(times.initial * 2**doublings, times.maximum)
        if until > now:
            found.append(Exclusion(node, until, newest.reason, len(there)))
    return sorted(found, key=lambda e: (-e.until.timestamp(), e.node))
