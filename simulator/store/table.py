"""All objects of one resource, in order, with the changes of the recent past.

For: reading now and as of an earlier version, and telling listeners of changes as they happen.
Not for: what an object may become; that is `store`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.objects import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.objects import Key, Object

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"


class Record:
    """An object at one version, and its JSON once somebody has asked for it."""

    __slots__ = ("_bare", "key", "object", "version")

    def __init__(self, key: Key, obj: Object, version: int) -> None:
        self.key, self.object, self.version = key, obj, version
        self._bare: bytes | None = None

    def bare(self) -> bytes:
        """Give the object as JSON without kind and apiVersion, as the items of lists are.

        Made once, however many lists and watches carry it.
        """
        if self._bare is None:
            rest = {k: v for k, v in self.object.items() if k not in ("kind", "apiVersion")}
            self._bare = encode(rest)
        return self._bare


class Change(NamedTuple):
    """One step of history. `record` of DELETED is the last state with the version of its end."""

    type: str
    record: Record
    previous: Record | None


class Table:
    """The objects of one resource by key; `history` changes are remembered."""

    def __init__(self, history: int) -> None:
        self._records: dict[Key, Record] = {}
        self._keys: list[Key] = []
        self._history: deque[Change] = deque(maxlen=history)
        self.forgotten = 0
        """The newest version whose change is no longer remembered."""
        self._listeners: list[Callable[[Change], None]] = []

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: Key) -> Record | None:
        """Give the record of a key, if there is one."""
        return self._records.get(key)

    def has(self, namespace: str) -> bool:
        """Tell whether there is anything in a namespace."""
        at = bisect_left(self._keys, (namespace, ""))
        return at < len(self._keys) and self._keys[at][0] == namespace

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Have `listener` told of every change, at once; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def put(self, key: Key, obj: Object, version: int) -> Record:
        """Keep an object, new or changed."""
        record, previous = Record(key, obj, version), self._records.get(key)
        if previous is None:
            insort(self._keys, key)
        self._records[key] = record
        self._tell(Change(MODIFIED if previous else ADDED, record, previous))
        return record

    def remove(self, key: Key, last: Object, version: int) -> Record:
        """Forget an object; `last` is how its end is reported."""
        previous = self._records.pop(key)
        del self._keys[bisect_left(self._keys, key)]
        record = Record(key, last, version)
        self._tell(Change(DELETED, record, previous))
        return record

    def _tell(self, change: Change) -> None:
        if len(self._history) == self._history.maxlen:
            self.forgotten = self._history[0].record.version
        self._history.append(change)
        for listener in tuple(self._listeners):
            listener(change)

    def since(self, version: int) -> list[Change]:
        """Give the changes after a version that is not older than `forgotten`."""
        found: list[Change] = []
        for change in reversed(self._history):
            if change.record.version <= version:
                break
            found.append(change)
        found.reverse()
        return found

    def records(self, namespace: str = "", after: Key | None = None) -> Iterator[Record]:
        """Iterate in order of namespace and name; `namespace` empty: all of them."""
        return _iterate(self._keys, self._records, namespace, after)

    def records_at(
        self, version: int, namespace: str = "", after: Key | None = None
    ) -> Iterator[Record]:
        """Iterate as of an earlier version, not older than `forgotten`.

        The past is the present with the changes since taken back: pages of a list stay
        consistent without anybody keeping copies for clients that never come back.
        """
        changes = self.since(version)
        if not changes:
            return self.records(namespace, after)
        records = dict(self._records)
        for change in reversed(changes):
            if change.previous is None:
                records.pop(change.record.key, None)
            else:
                records[change.record.key] = change.previous
        return _iterate(sorted(records), records, namespace, after)


def _iterate(
    keys: list[Key], records: dict[Key, Record], namespace: str, after: Key | None
) -> Iterator[Record]:
    start = 0
    if after is not None:
        start = bisect_left(keys, (after[0], after[1] + "\0"))
    elif namespace:
        start = bisect_left(keys, (namespace, ""))
    for key in keys[start:]:
        if namespace and key[0] != namespace:
            return
        yield records[key]
