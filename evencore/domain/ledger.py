"""The Ledger: what failed pods and Events tell of rejections, in whatever order they come.

For: one rejection for each pod, however many witnesses it has; what does not count is left out.
Not for: what a verdict sees of it (`evidence`), nor what a pod or an Event means (`rejection`,
`events`).

Nothing here is state of our own: whoever reads the same pods and Events has the same evidence.
"""

from __future__ import annotations

import re
from bisect import insort
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from msgspec import Struct

from evencore.domain.evidence import NONE, Books, Evidence, Seen
from evencore.domain.rejection import stateful_set_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from evencore.domain.rejection import Rejection

V = TypeVar("V")

RAN: Final = timedelta(seconds=5)
"""An Event so long after status.startTime is of a pod that had been running: its kubelet restarted.
For a new pod the kubelet writes both in the same breath."""

FIRST: Final = timedelta(minutes=1)
"""A kubelet that starts so soon after its node was made does not come back: nothing ran there."""

SETTLE: Final = timedelta(minutes=2)
"""How long a kubelet that has started takes to admit what runs on its node once more."""


_ORDINAL = re.compile(r"(?P<owner>.+)-[0-9]{1,10}")
_STARTS = 16  # of each node's kubelet that are remembered: the newest
_MOST_REMEMBERED = 20_000  # nodes: many more than a cluster has
_GONE = 1024  # pods that are remembered a little longer than any witness tells of them


class Ledger:
    """All evidence. Threads may share it if they hand in a lock as `guard`.

    `settle`: what is rejected within this time after its node's kubelet started tells nothing about
    room on that node, for then all running pods go through admission again. It counts all the same
    as one more failure of its owner: a loop is a loop.
    """

    def __init__(
        self,
        settle: timedelta = SETTLE,
        guard: AbstractContextManager[object] = nullcontext(),  # noqa: B008  it has no state
    ) -> None:
        self._settle = settle
        self._guard = guard
        self._owners: dict[str, Books] = {}
        # Pods, by namespace and uid: whoever may write Events in one could else tell of another's.
        self._known: dict[_Pod, _Known] = {}
        # A pod that is deleted at once may be gone before its Event comes: they are two watches.
        self._gone: dict[_Pod, _Known] = {}
        self._starts: dict[str, list[datetime]] = {}  # of each node's kubelet, oldest first
        self._made: dict[str, datetime] = {}  # each node

    def pod(self, rejection: Rejection, now: datetime) -> None:
        """Take in a failed pod; one that does not say when it failed did so now.

        One that says that it will fail, for its kubelet's clock is ahead, did so now as well.
        """
        if not rejection.kind.excludes:
            return
        with self._guard:
            known = self._of(rejection)
            known.pod = _witness(rejection, known.pod, now)
            known.owner, known.started = rejection.owner, rejection.clock
            known.released = rejection.released
            self._book(known)

    def pod_gone(self, namespace: str, uid: str) -> None:
        """Forget a failed pod that was deleted; what its Event tells stays."""
        with self._guard:
            if known := self._known.get(_Pod(namespace, uid)):
                known.pod = None
                self._book(known)

    def event(self, rejection: Rejection, now: datetime) -> None:
        """Take in the Event of a rejection (`Rejection.owner` is empty: it tells none)."""
        if not rejection.kind.excludes:
            return
        with self._guard:
            known = self._of(rejection)
            known.event = _witness(rejection, known.event, now)
            if not known.owner and (match := _ORDINAL.fullmatch(rejection.pod)):
                known.owner = stateful_set_key(rejection.namespace, match["owner"])
            self._book(known)

    def event_gone(self, namespace: str, uid: str) -> None:
        """Forget the Event of a rejection: it has expired."""
        with self._guard:
            if known := self._known.get(_Pod(namespace, uid)):
                known.event = None
                self._book(known)

    def kubelet_started(self, node: str, at: datetime) -> None:
        """Take in that the kubelet of a node has started."""
        with self._guard:
            starts = self._starts.setdefault(node, [])
            if at in starts:
                return
            insort(starts, at)
            del starts[:-_STARTS]
            _forget_oldest(self._starts)
            self._judge_anew(node)

    def node_made(self, node: str, at: datetime) -> None:
        """Take in when a node was made: the first start of its kubelet is nothing special."""
        with self._guard:
            if self._made.get(node) == at:
                return
            self._made[node] = at
            _forget_oldest(self._made)
            if node in self._starts:
                self._judge_anew(node)

    def of(self, owner: str, now: datetime) -> Evidence:
        """Return the evidence of one owner (`owner_key`) as of `now`."""
        with self._guard:
            books = self._owners.get(owner)
            return books.evidence(now) if books else NONE

    def all_of(self, owner: str) -> Sequence[Seen]:
        """Return every rejection of one owner that counts, oldest first."""
        with self._guard:
            books = self._owners.get(owner)
            return tuple(books.all) if books else ()

    def pods_of(self, owner: str) -> Sequence[Seen]:
        """Return those of `all_of` whose failed pods are still there."""
        with self._guard:
            books = self._owners.get(owner)
            if books is None:
                return ()
            return tuple(o for o in books.all if self._known[_Pod(books.namespace, o.uid)].pod)

    def rejected_on(self, node: str) -> dict[str, datetime]:
        """Return who was rejected on a node, and when last; all evidence counts, however old."""
        with self._guard:
            return {
                owner: there[-1].at
                for owner, books in self._owners.items()
                if (there := books.on_node.get(node))
            }

    def rejecting(self) -> set[str]:
        """Return the nodes on which anybody was rejected."""
        with self._guard:
            return {node for books in self._owners.values() for node in books.on_node}

    def owners(self) -> list[str]:
        """Return who has evidence at all."""
        with self._guard:
            return list(self._owners)

    def _of(self, rejection: Rejection) -> _Known:
        """Return what is known of a pod, to be added to."""
        pod = _Pod(rejection.namespace, rejection.uid)
        known = self._known.get(pod)
        if known is None:
            known = self._gone.pop(pod) if pod in self._gone else _Known(pod)
            self._known[pod] = known
        return known

    def _judge_anew(self, node: str) -> None:
        for known in list(self._known.values()):
            if (witness := known.witness) and witness.node == node:
                self._book(known)

    def _book(self, known: _Known) -> None:
        """Make the books say of one pod what its witnesses tell now; forget it if none is left."""
        wanted = self._seen(known) if known.owner else None
        if known.booked != (known.owner, wanted):
            self._strike(known)
            if wanted:
                self._owners.setdefault(known.owner, Books(known.of.namespace)).add(wanted)
            known.booked = (known.owner, wanted)
        if known.witness is None:
            self._gone[known.of] = self._known.pop(known.of)
            if len(self._gone) > _GONE:
                del self._gone[next(iter(self._gone))]

    def _strike(self, known: _Known) -> None:
        owner, seen = known.booked
        if seen is None:
            return
        books = self._owners[owner]
        books.remove(seen)
        if not books.all:
            del self._owners[owner]

    def _seen(self, known: _Known) -> Seen | None:
        """Return what the books are to say of a pod; None if it does not count."""
        told = known.witness
        # The Event first: startTime is older than the rejection if the pod had been running.
        happened = known.event or known.pod
        if told is None or happened is None:
            return None
        if known.started and happened.clock and happened.clock - known.started > RAN:
            return None
        # Differences: a sum could leave the range of datetime, and anybody can write an Event.
        made = self._made.get(happened.node)
        settling = any(
            _ZERO <= (happened.clock or happened.at) - start < self._settle
            for start in self._starts.get(happened.node, ())
            if made is None or start - made > FIRST
        )
        return Seen(told.at, known.of.uid, told.node, told.reason, known.released, settling)


_ZERO = timedelta(0)


def _forget_oldest(of_nodes: dict[str, V]) -> None:
    """Keep a memory of nodes from growing for ever: nodes come and go, and Events may name any."""
    if len(of_nodes) > _MOST_REMEMBERED:
        del of_nodes[next(iter(of_nodes))]


class _Pod(NamedTuple):
    """Which pod it is."""

    namespace: str
    uid: str


class _Witness(NamedTuple):
    """What a pod or an Event tells of a rejection."""

    at: datetime
    node: str
    reason: str
    clock: datetime | None  # by the kubelet's clock


def _witness(rejection: Rejection, before: _Witness | None, now: datetime) -> _Witness:
    """Return what is told of a rejection now; it cannot be newer than when it was first told."""
    first = before.at if before else now
    return _Witness(
        min(rejection.at or first, first), rejection.node, rejection.reason, rejection.clock
    )


class _Known(Struct):
    """What is known of one rejected pod, and what the books of its owner say of it."""

    of: _Pod
    owner: str = ""
    pod: _Witness | None = None
    event: _Witness | None = None
    # What only the pod tells is kept when it is gone.
    started: datetime | None = None
    released: bool = False
    booked: tuple[str, Seen | None] = ("", None)  # for which owner

    @property
    def witness(self) -> _Witness | None:
        return self.pod or self.event
