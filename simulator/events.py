"""Events do not stay: the API server forgets each one an hour after its last change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.resources import EVENTS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from simulator.objects import Key
    from simulator.store.store import Store
    from simulator.store.table import Change

LIFE_S: Final = 3600.0
"""kube-apiserver --event-ttl."""


class Expiry:
    """Deletes events whose time is over."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.table(EVENTS).listen(self._note)

    def _note(self, change: Change) -> None:
        if change.type != DELETED:
            key, version = change.record.key, change.record.version
            self._store.clock.after(LIFE_S, lambda: self._expire(key, version))

    def _expire(self, key: Key, version: int) -> None:
        record = self._store.table(EVENTS).get(key)
        if record is not None and record.version == version:
            self._store.delete(EVENTS, *key)
