"""What a process gets from the machine that it runs on: time, chance and threads.

For: handing all of it in at one place, so that whole processes can be played on a clock that is
not real (docs/soak.md).
Not for: settings; nobody who runs evencore chooses any of this.
"""

from __future__ import annotations

import random as _random
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from evencore.kube.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable


class Spawn(Protocol):
    """Starts a thread that does `work`."""

    def __call__(self, name: str, work: Callable[[], None], /) -> threading.Thread:
        """Return the thread, started."""


def time_of_day() -> datetime:
    """Tell the time of day."""
    return datetime.now(UTC)


def in_background(name: str, work: Callable[[], None]) -> threading.Thread:
    """Start a daemon: nobody waits for one whose request is not answered."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The real ones, if nothing else is said."""

    now: Callable[[], datetime] = time_of_day
    """The time of day; it may be set, and differ from that of others."""
    clock: Clock = field(default_factory=SystemClock)
    """It never goes back."""
    random: Callable[[], float] = _random.random
    """A number in [0, 1)."""
    spawn: Spawn = in_background
