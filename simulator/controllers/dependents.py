"""Whose pods are whose, kept up to date from the change feed.

For: giving a controller its pods without looking at all others; pods that have ended are kept
apart, because a hot loop leaves thousands of them behind.
Not for: selectors; adoption is decided in `claims`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import controller_of, dig
from simulator.resources import PODS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Key, Object
    from simulator.store.store import Store
    from simulator.store.table import Change

_OVER: Final = ("Failed", "Succeeded")


class Dependents:
    """Pods by the uid of their controller; those without one by namespace."""

    def __init__(self, store: Store) -> None:
        self._table = store.table(PODS)
        self._going: dict[str, dict[Key, None]] = {}
        self._over: dict[str, dict[Key, None]] = {}
        self._listeners: list[Callable[[Object, Object | None], None]] = []
        for record in self._table.records():
            self._put(record.object)
        self._table.listen(self._note)

    def listen(self, listener: Callable[[Object, Object | None], None]) -> None:
        """Have `listener` told of each changed pod, as it is and as it was, after the index."""
        self._listeners.append(listener)

    def going(self, uid: str) -> list[Object]:
        """Give the pods of an owner that have not ended, oldest first."""
        return self._objects(self._going.get(uid))

    def over(self, uid: str) -> list[Object]:
        """Give the pods of an owner that have ended."""
        return self._objects(self._over.get(uid))

    def all(self, uid: str) -> list[Object]:
        """Give all pods of an owner."""
        return self.going(uid) + self.over(uid)

    def orphans(self, namespace: str) -> list[Object]:
        """Give the pods of a namespace that have no controller and have not ended."""
        return self._objects(self._going.get(f"orphans of {namespace}"))

    def _objects(self, keys: dict[Key, None] | None) -> list[Object]:
        found = (self._table.get(key) for key in keys or ())
        return [record.object for record in found if record is not None]

    def _note(self, change: Change) -> None:
        before = change.previous.object if change.previous else None
        now = change.record.object
        if before is None or change.type == DELETED or _place(before) != _place(now):
            if before is not None:
                self._take(before)
            if change.type != DELETED:
                self._put(now)
        for listener in tuple(self._listeners):
            listener(now, before)

    def _put(self, pod: Object) -> None:
        group, owner, key = _place(pod)
        index = self._over if group else self._going
        index.setdefault(owner, {})[key] = None

    def _take(self, pod: Object) -> None:
        group, owner, key = _place(pod)
        index = self._over if group else self._going
        keys = index.get(owner, {})
        keys.pop(key, None)
        if not keys:
            index.pop(owner, None)


def _place(pod: Object) -> tuple[bool, str, Key]:
    metadata, owner = pod["metadata"], controller_of(pod)
    name = owner["uid"] if owner else f"orphans of {metadata['namespace']}"
    return dig(pod, "status", "phase") in _OVER, name, (metadata["namespace"], metadata["name"])
