"""Writes that we made and have not seen come back: an old view must not make us act twice."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S: Final = 60.0
"""A write that has not come back by then is believed to be lost: what is seen counts again."""


class Expectations:
    """Uids of objects that we change. All methods may be called by any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}  # in the order in which their time runs out

    def expect(self, uid: str) -> None:
        """Note that the object will be seen changed.

        Call it before the write: a watch is often faster than the answer.
        """
        now = self._now()
        with self._lock:
            self._until.pop(uid, None)
            self._until[uid] = now + PATIENCE_S
            while self._until[first := next(iter(self._until))] <= now:
                del self._until[first]

    def met(self, uid: str) -> None:
        """Note that it was seen, is gone, or was not written after all."""
        with self._lock:
            self._until.pop(uid, None)

    def pending(self, uid: str) -> bool:
        """Tell whether what is seen of the object is older than what we wrote."""
        with self._lock:
            return self._until.get(uid, float("-inf")) > self._now()

    def __len__(self) -> int:
        """Count the writes that are remembered."""
        with self._lock:
            return len(self._until)
