"""The objects of one resource, kept for readers in other threads.

For: taking in what a reflector reports and publishing it as views that never change while
somebody reads them.
Not for: indexes or meaning.

An event costs the same whatever is kept: the copy is made by the first reader after a change,
not by the change. A reader that comes back without a change in between gets the same view.
"""

from __future__ import annotations

import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from evencore.kube.crowds import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evencore.kube.crowds import Crowd

T = TypeVar("T")


class Store(Generic[T]):
    """A `reflector.Handler` that keeps what it is told.

    `changed(key, before, after)` is called after each change, in the caller's thread and without
    a lock held; `before` is None for a new object, `after` for one that is gone. An object that
    equals the one that is kept is no change (a node's heartbeat changes nothing that we decode).
    `crowd`: of more in a namespace than that, those that came first are forgotten as if deleted.
    """

    def __init__(
        self, changed: Callable[[str, T | None, T | None], None], crowd: Crowd | None = None
    ) -> None:
        self._changed = changed
        self._crowd = crowd
        self._places = Places(crowd) if crowd else None
        self._lock = threading.Lock()
        self._objects: dict[str, T] = {}
        self._published: Mapping[str, T] | None = None

    def view(self) -> Mapping[str, T]:
        """Everything, by key, as of now: a mapping that will never change."""
        published = self._published
        if published is not None:
            return published
        with self._lock:
            if self._published is None:
                self._published = MappingProxyType(dict(self._objects))
            return self._published

    def get(self, key: str) -> T | None:
        """One object, as of now; without a copy of all."""
        return self._objects.get(key)

    def replace(self, objects: Mapping[str, T]) -> None:
        """Take `objects` for all there are; readers see the old or the new, nothing between."""
        old = self._objects  # only this thread writes
        # An equal object is kept as it was, so that readers may compare by identity.
        new = {key: old[key] if old.get(key) == obj else obj for key, obj in objects.items()}
        if self._crowd:
            self._places = Places(self._crowd)
            for key in new:
                self._places.came(key)
        gone = [(key, obj, None) for key, obj in old.items() if key not in new]
        came = [(key, old.get(key), obj) for key, obj in new.items() if old.get(key) is not obj]
        if not gone and not came:
            return
        with self._lock:
            self._objects, self._published = new, None
        for key, before, after in (*gone, *came):
            self._changed(key, before, after)

    def upsert(self, key: str, obj: T) -> None:
        """Keep `obj` under `key`."""
        before = self._objects.get(key)
        if before == obj:
            return
        with self._lock:
            self._objects[key] = obj
            self._published = None
        self._changed(key, before, obj)
        if self._places and before is None and (oldest := self._places.came(key)):
            self.delete(oldest)

    def delete(self, key: str) -> None:
        """Forget `key`; fine if it is not known."""
        if self._places:
            self._places.went(key)
        with self._lock:
            before = self._objects.pop(key, None)
            if before is None:
                return
            self._published = None
        self._changed(key, before, None)
