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
    """Uids of objects that we changed. All methods may be called by any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}

    def expect(self, uid: str) -> None:
        """Note that the object was written and will be seen changed."""
        with self._lock:
            self._until[uid] = self._now() + PATIENCE_S

    def met(self, uid: str) -> None:
        """Note that it was seen, or is gone."""
        with self._lock:
            self._until.pop(uid, None)

    def pending(self, uid: str) -> bool:
        """Tell whether what is seen of the object is older than what we wrote."""
        with self._lock:
            until = self._until.get(uid)
            if until is not None and until <= self._now():
                del self._until[uid]
                return False
            return until is not None
