"""Time as the reflector sees it, so that a test can hand in its own.

For: reading a clock that never goes back and waiting in a way that a stop cuts short.
Not for: dates; nothing here knows what day it is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading


class Clock(Protocol):
    """A monotonic clock that can also wait."""

    def now(self) -> float:
        """Seconds since some moment; never goes back."""

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait `seconds`, or until `stop` is set; True says that it is set."""


class SystemClock:
    """The real one."""

    def now(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait `seconds`, or until `stop` is set; True says that it is set."""
        return stop.wait(seconds)
