"""Which pod is tried next: active, backing off, or waiting for something to change.

For: the order of pods and their back-off. Not for: gates (a gated pod is never put here) and
what wakes a pod; the scheduler asks with a question of its own.

Kubernetes rules (scheduling_queue.go, backoff_queue.go of 1.36): by priority, then by age;
back-off 1 s, doubled to at most 10 s; a pod that was woken waits for its back-off only while
others are active (SchedulerPopFromBackoffQ), one that met an error always; nobody waits longer
than 5 minutes to be woken.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.scheduler.wishes import Wishes

_FIRST_S: Final = 1.0
_LONGEST_S: Final = 10.0
_DOUBLINGS: Final = 16  # any more make it no longer, and a float can hold no 2 ** 1024
LONGEST_WAIT_S: Final = 300.0


@dataclass(slots=True)
class Entry:
    """A pod in the queue."""

    pod: Wishes
    added: float
    attempts: int = 0
    failed: float = 0.0
    refused_by: frozenset[str] = field(default_factory=frozenset)
    met_error: bool = False
    place: int = 0  # 0: waiting to be woken; else its place in a heap

    def backoff_ends(self) -> float:
        """Tell when it may be tried again."""
        if not self.attempts:
            return 0.0
        return self.failed + min(_FIRST_S * 2.0 ** min(self.attempts - 1, _DOUBLINGS), _LONGEST_S)


class Queue:
    """The pods that have no node yet. A popped pod is gone until it is put back."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._active: list[tuple[int, float, int, str]] = []
        self._backoff: list[tuple[float, int, float, int, str]] = []
        self._count = itertools.count(1)

    def get(self, uid: str) -> Entry | None:
        """Give the entry of a pod that is here."""
        return self._entries.get(uid)

    def put(self, entry: Entry, now: float) -> None:
        """Let a pod be tried, as soon as its back-off is over."""
        self._entries[entry.pod.uid] = entry
        entry.place = next(self._count)
        ends = entry.backoff_ends()
        order = (-entry.pod.priority, entry.added, entry.place, entry.pod.uid)
        if ends > now:
            heapq.heappush(self._backoff, (ends, *order))
        else:
            heapq.heappush(self._active, order)

    def wait(self, entry: Entry) -> None:
        """Keep a pod until it is woken."""
        self._entries[entry.pod.uid] = entry
        entry.place = 0

    def remove(self, uid: str) -> None:
        """Forget a pod."""
        self._entries.pop(uid, None)

    def wake(self, helps: Callable[[Entry], bool], now: float) -> bool:
        """Let those waiting pods be tried again whom a change may help; tells if there are any."""
        woken = [one for one in self._entries.values() if not one.place and helps(one)]
        for entry in woken:
            self.put(entry, now)
        return bool(woken)

    def pop(self, now: float) -> Entry | None:
        """Take the next pod; None: nothing can be tried now."""
        while self._backoff and self._backoff[0][0] <= now:
            _, priority, added, place, uid = heapq.heappop(self._backoff)
            heapq.heappush(self._active, (priority, added, place, uid))
        while self._active:
            *_, place, uid = heapq.heappop(self._active)
            if self._is_current(uid, place):
                return self._entries.pop(uid)
        return self._pop_early()

    def _pop_early(self) -> Entry | None:
        """Take the pod whose back-off ends first, among those that met no error."""
        kept: list[tuple[float, int, float, int, str]] = []
        found = None
        while self._backoff and found is None:
            item = heapq.heappop(self._backoff)
            *_, place, uid = item
            if not self._is_current(uid, place):
                continue
            if self._entries[uid].met_error:
                kept.append(item)
            else:
                found = self._entries.pop(uid)
        for item in kept:
            heapq.heappush(self._backoff, item)
        return found

    def next_due(self) -> float | None:
        """Tell when a pod that met an error can be popped; for when `pop` has nothing now."""
        return self._backoff[0][0] if self._backoff else None

    def _is_current(self, uid: str, place: int) -> bool:
        entry = self._entries.get(uid)
        return entry is not None and entry.place == place
