"""The work queue: keys that are due, each once, and never two workers on the same.

For: folding repeats, waiting until a key is due, backing off from keys that fail.
Not for: what a key means.

client-go's rules (util/workqueue): a key that is added while a worker has it is handed out again
once that worker is done. Time is monotonic seconds.
"""

from __future__ import annotations

import threading
import time
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_S: Final = 0.5
CEILING_S: Final = 60.0
_MOST_FAILURES: Final = 16  # any more wait for the ceiling as well


class Key(NamedTuple):
    """What is to be looked at: a kind of work and what it is about."""

    work: str
    about: str


class Queue:
    """Hands out keys. All methods may be called by any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._due: dict[Key, float] = {}
        # May hold entries that an earlier time for their key has made void.
        self._heap: list[tuple[float, Key]] = []
        self._working: dict[Key, float | None] = {}  # with when it is due again
        self._failures: dict[Key, int] = {}
        self._stopped = False

    def add(self, key: Key, after_s: float = 0.0) -> None:
        """Make a key due in `after_s`, or sooner if it is due sooner already."""
        due = self._now() + after_s
        with self._changed:
            if key in self._working:
                again = self._working[key]
                self._working[key] = due if again is None else min(due, again)
            elif due < self._due.get(key, float("inf")):
                self._schedule(key, due)

    def get(self) -> Key | None:
        """Wait for a key that is due and take it; None: the queue was stopped."""
        with self._changed:
            while not self._stopped:
                wait_s = self._wait_s()
                if wait_s is not None and wait_s <= 0:
                    _, key = heappop(self._heap)
                    del self._due[key]
                    self._working[key] = None
                    if self._heap:
                        # Who minded when the next one is due may be the one that leaves now.
                        self._changed.notify()
                    return key
                self._changed.wait(wait_s)
            return None

    def done(self, key: Key) -> None:
        """Give a key back that went well."""
        with self._changed:
            self._failures.pop(key, None)
            again = self._working.pop(key)
            if again is not None:
                self._schedule(key, again)

    def failed(self, key: Key) -> float:
        """Give a key back that is to be tried again, later each time; returns in how many s.

        What was added meanwhile waits as long: a mistake of ours is not to be made at the rate of
        the events that lead to it.
        """
        with self._changed:
            number = self._failures[key] = min(self._failures.get(key, 0) + 1, _MOST_FAILURES)
            wait_s = min(FIRST_S * 2.0 ** (number - 1), CEILING_S)
            del self._working[key]
            self._schedule(key, self._now() + wait_s)
        return wait_s

    def stop(self) -> None:
        """Let all who wait in `get` go home."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def due_s(self) -> float | None:
        """Tell in how many seconds `get` will have a key at the latest; None: nothing waits."""
        with self._changed:
            return self._wait_s()

    def __len__(self) -> int:
        """Count the keys that wait, due or not."""
        with self._changed:
            return len(self._due)

    def _schedule(self, key: Key, due: float) -> None:
        entry = (due, key)
        self._due[key] = due
        heappush(self._heap, entry)
        if self._heap[0] is entry:
            # Somebody minds when the one that was first before is due, and takes the turn of this
            # one as well. A wake-up costs as much as taking in a whole event.
            self._changed.notify()

    def _wait_s(self) -> float | None:
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)  # an earlier time has made it void
        return self._heap[0][0] - self._now() if self._heap else None
