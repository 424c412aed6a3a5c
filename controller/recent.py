"""A memory that does not grow: what was put in longest ago is forgotten first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final, Generic, TypeVar

V = TypeVar("V")

MOST: Final = 4096


class Recent(Generic[V]):
    """The values of the last so many keys. Threads may share it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[str, V] = OrderedDict()

    def put(self, key: str, value: V) -> None:
        """Remember a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def changes(self, key: str, value: V) -> bool:
        """Remember a value; tells whether it is another than before."""
        before = self.get(key)
        self.put(key, value)
        return before != value

    def get(self, key: str) -> V | None:
        """Return what is remembered of a key."""
        with self._lock:
            return self._values.get(key)
