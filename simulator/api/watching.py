"""Watches: the changes of a collection as they happen, as a stream of JSON lines.

Kubernetes rules: from a version on, or from now with all that is there first; an object that
leaves the selector is reported deleted; bookmarks carry a version and nothing else; a forgotten
version is answered with an ERROR event that holds a 410; the server ends a watch after
`timeoutSeconds`. Streaming lists (sendInitialEvents) end with a bookmark that says so.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator import versions
from simulator.api import reads
from simulator.auth.asked import is_set
from simulator.errors import expired
from simulator.objects import encode
from simulator.store.table import ADDED, DELETED, MODIFIED, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.api.forms import Form
    from simulator.api.http import Channel
    from simulator.api.routing import Target
    from simulator.selectors import Selector
    from simulator.store.store import Store
    from simulator.store.table import Change

BOOKMARK_EVERY_S: Final = 60.0
_LONGEST_S: Final = 3600.0
"""When the client names no end; the API server takes 30 to 60 minutes."""

_INITIAL_END: Final = {"annotations": {"k8s.io/initial-events-end": "true"}}


class Wish(NamedTuple):
    """What the client of a watch asked for."""

    selector: Selector
    version: int  # 0: from now
    initial: bool  # all that is there comes first
    bookmarks: bool
    marks_end_of_initial: bool
    seconds: float


def wish_of(store: Store, target: Target, query: Mapping[str, str]) -> Wish:
    """Read the parameters of a watch. Raises 400 and 504."""
    version = reads.version_of(query, store)
    streaming = is_set(query, "sendInitialEvents")
    bookmarks = is_set(query, "allowWatchBookmarks")
    asked = query.get("timeoutSeconds", "")
    return Wish(
        selector=reads.selector_of(target, query),
        version=version,
        initial=streaming or (version == 0 and "sendInitialEvents" not in query),
        bookmarks=bookmarks,
        marks_end_of_initial=streaming and bookmarks,
        seconds=float(asked) if asked.isdecimal() and int(asked) else _LONGEST_S,
    )


class Watch:
    """One open watch; everything happens in the loop's thread, between a change and the next."""

    def __init__(
        self, store: Store, target: Target, wish: Wish, form: Form, channel: Channel
    ) -> None:
        self._store, self._target, self._wish = store, target, wish
        self._form, self._channel = form, channel
        self._timers: list[asyncio.TimerHandle] = []
        self._unlisten: Callable[[], None] = lambda: None

    def start(self) -> Callable[[], None]:
        """Send what is due already and go on with every change; returns what stops that."""
        table, wish = self._store.table(self._target.resource), self._wish
        if wish.initial:
            for record in table.records(self._target.namespace):
                if self._selects(record):
                    self._send(ADDED, record)
            if wish.marks_end_of_initial:
                self._bookmark(_INITIAL_END)
        elif wish.version:
            if wish.version < table.forgotten:
                text = f"too old resource version: {wish.version} ({table.forgotten})"
                self._write("ERROR", encode(expired(text).status()))
                self._channel.end()
                return self.stop
            for change in table.since(wish.version):
                self._tell(change)
        self._unlisten = table.listen(self._tell)
        loop = asyncio.get_running_loop()
        self._timers = [loop.call_later(wish.seconds, self._finish)]
        if wish.bookmarks:
            self._timers.append(loop.call_later(BOOKMARK_EVERY_S, self._bookmark_again))
        return self.stop

    def stop(self) -> None:
        """Listen no more."""
        self._unlisten()
        self._unlisten = lambda: None
        for timer in self._timers:
            timer.cancel()

    def _tell(self, change: Change) -> None:
        """Send a change as it looks through the selector."""
        if self._target.namespace and change.record.key[0] != self._target.namespace:
            return
        record, previous = change.record, change.previous
        had = previous is not None and self._selects(previous)
        has = change.type != DELETED and self._selects(record)
        if has:
            self._send(MODIFIED if had else ADDED, record)
        elif had and previous is not None:
            self._send(DELETED, record if change.type == DELETED else _aged(previous, record))

    def _selects(self, record: Record) -> bool:
        selector = self._wish.selector
        if not selector.labels and not selector.fields:
            return True
        return selector.matches(versions.outgoing(self._target.resource, record.object))

    def _send(self, type_: str, record: Record) -> None:
        self._write(type_, self._form.one(self._target.resource, record))

    def _bookmark(self, metadata: Mapping[str, object]) -> None:
        version = str(self._store.version)
        bare = {"metadata": {"resourceVersion": version, "creationTimestamp": None, **metadata}}
        self._send("BOOKMARK", Record(("", ""), bare, self._store.version))

    def _bookmark_again(self) -> None:
        self._bookmark({})
        loop = asyncio.get_running_loop()
        self._timers[1] = loop.call_later(BOOKMARK_EVERY_S, self._bookmark_again)

    def _finish(self) -> None:
        # The version of the last bookmark spares the client the history when it comes again.
        if self._wish.bookmarks:
            self._bookmark({})
        self._channel.end()

    def _write(self, type_: str, encoded: bytes) -> None:
        self._channel.write(b'{"type":"%b","object":%b}\n' % (type_.encode(), encoded))


def _aged(previous: Record, now: Record) -> Record:
    """Give the state that a selector last saw, with the version at which it left."""
    metadata = {**previous.object["metadata"], "resourceVersion": str(now.version)}
    return Record(previous.key, {**previous.object, "metadata": metadata}, now.version)
