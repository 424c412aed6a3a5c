"""Evidence: what is known of the rejections of one owner, and what a verdict sees of it.

For: handing out what a verdict looks at in a time that hardly grows with their number.
Not for: who tells of rejections (`ledger`), nor what follows (`verdict`, `release`, `cleaning`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct, field

T = TypeVar("T", bound=tuple[object, ...])

MEMORY: Final = timedelta(hours=1)
"""How long a rejection counts: as long as an API server keeps Events (--event-ttl)."""
_MOST_NODES: Final = 21  # one more than are ever excluded
MOST_TIMES: Final = 16
"""Of the newest rejections, and of the failed releases, a verdict sees so many one by one."""


class Seen(NamedTuple):
    """One rejection that counts; they are sorted by time."""

    at: datetime
    uid: str  # of the pod
    node: str
    reason: str
    released: bool  # the controller had let the pod go, in vain
    settling: bool = False  # its kubelet had just started: it says nothing of the node's room


class OnNode(NamedTuple):
    """What an owner met on one node."""

    node: str
    newest: datetime
    rejections: int
    reason: str  # of the newest


class Evidence(NamedTuple):
    """What a verdict looks at; newest first, and no more than it can use."""

    nodes: tuple[OnNode, ...] = ()
    times: tuple[datetime, ...] = ()
    failed_releases: tuple[datetime, ...] = ()
    last: Seen | None = None

    @property
    def newest(self) -> datetime | None:
        """When the newest rejection happened."""
        return self.times[0] if self.times else None


NONE: Final = Evidence()


class Books(Struct):
    """The rejections of one owner: all lists are sorted, oldest first."""

    namespace: str
    all: list[Seen] = field(default_factory=list)
    released: list[Seen] = field(default_factory=list)
    on_node: dict[str, list[Seen]] = field(default_factory=dict)
    nodes: list[tuple[datetime, str]] = field(default_factory=list)  # newest on each node

    def add(self, seen: Seen) -> None:
        """Take in a rejection."""
        insort(self.all, seen)
        if seen.released:
            insort(self.released, seen)
        if not seen.settling:
            self._add_to_node(seen)

    def remove(self, seen: Seen) -> None:
        """Take out one that is in."""
        _drop(self.all, seen)
        if seen.released:
            _drop(self.released, seen)
        if not seen.settling:
            self._remove_from_node(seen)

    def _add_to_node(self, seen: Seen) -> None:
        there = self.on_node.setdefault(seen.node, [])
        if there:
            _drop(self.nodes, (there[-1].at, seen.node))
        insort(there, seen)
        insort(self.nodes, (there[-1].at, seen.node))

    def _remove_from_node(self, seen: Seen) -> None:
        there = self.on_node[seen.node]
        _drop(self.nodes, (there[-1].at, seen.node))
        _drop(there, seen)
        if there:
            insort(self.nodes, (there[-1].at, seen.node))
        else:
            del self.on_node[seen.node]

    def evidence(self, now: datetime) -> Evidence:
        """Return what a verdict looks at as of `now`."""
        since = now - MEMORY
        nodes = []
        for newest, node in islice(reversed(self.nodes), _MOST_NODES):
            if newest < since:
                break
            there = self.on_node[node]
            count = len(there) - bisect_left(there, (since,))
            nodes.append(OnNode(node, min(newest, now), count, there[-1].reason))
        return Evidence(
            tuple(nodes),
            _newest(self.all, since, now),
            _newest(self.released, since, now),
            self.all[-1] if self.all and self.all[-1].at >= since else None,
        )


def _newest(found: list[Seen], since: datetime, now: datetime) -> tuple[datetime, ...]:
    """Return the newest times; clocks differ, and one to come counts as now."""
    return tuple(
        min(seen.at, now) for seen in islice(reversed(found), MOST_TIMES) if seen.at >= since
    )


def _drop(found: list[T], item: T) -> None:
    del found[bisect_left(found, item)]
