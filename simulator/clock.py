"""The time of the pocket cluster: real, faster, or virtual.

For: reading the time and being called when a moment is due. Everything that happens later in the
cluster hangs on these timers, so a virtual clock can jump from one due moment to the next.
Not for: the patience of clients on the wire (watch timeouts); they live in real time.

A clock belongs to one thread. `ticking` drives a clock within an asyncio loop.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer:
    """One thing to do at one moment; `cancel` it as long as it is not done."""

    __slots__ = ("action", "due")

    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due = due
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """Forget it; no error if it is done already."""
        self.action = None


class Clock:
    """Seconds since 1970 that pass `speed` times as fast as real ones; None: only when told to."""

    def __init__(
        self,
        *,
        start: float,
        speed: float | None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if speed is not None and speed <= 0:
            raise ValueError(f"a clock cannot run {speed} times as fast: give a speed above 0")
        self.speed = speed
        self._monotonic = monotonic
        self._start, self._born = start, monotonic()
        self._timers: list[tuple[float, int, Timer]] = []
        self._count = itertools.count()
        self.on_sooner: Callable[[], None] = lambda: None
        """Called when a new timer is the next one due: whoever sleeps until then must know."""

    @classmethod
    def real(cls, speed: float = 1.0) -> Clock:
        """Make a clock that starts now."""
        return cls(start=time.time(), speed=speed)

    @classmethod
    def virtual(cls, start: float = 1_800_000_000.0) -> Clock:
        """Make a clock that stands still until `advance` or `jump`; the same in every run."""
        return cls(start=start, speed=None)

    def now(self) -> float:
        """Seconds since 1970, in the cluster's time."""
        if self.speed is None:
            return self._start
        return self._start + (self._monotonic() - self._born) * self.speed

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Have `action` called once when `seconds` have passed; in the order of their moments."""
        timer = Timer(self.now() + max(0.0, seconds), action)
        heapq.heappush(self._timers, (timer.due, next(self._count), timer))
        if self._timers[0][2] is timer:
            self.on_sooner()
        return timer

    def next_due(self) -> float | None:
        """Tell the moment of the next timer; None without timers."""
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def real_wait(self) -> float | None:
        """Tell how many real seconds it takes until something is due; None: for ever."""
        due = self.next_due()
        if due is None:
            return None
        left = due - self.now()
        if left <= 0:
            return 0.0
        return None if self.speed is None else left / self.speed

    def run_due(self, most_s: float = math.inf) -> int:
        """Do everything that is due by now, also what that makes due; returns how many.

        After `most_s` real seconds the rest is left to the next call.
        """
        done, end = 0, self._monotonic() + most_s
        while (due := self.next_due()) is not None and due <= self.now():
            if done and self._monotonic() > end:
                break
            _, _, timer = heapq.heappop(self._timers)
            action, timer.action = timer.action, None
            if action is not None:
                action()
                done += 1
        return done

    def advance(self, seconds: float) -> None:
        """Let `seconds` of virtual time pass and do what is due on the way, each at its moment."""
        end = self._virtual_now() + seconds
        while (due := self.next_due()) is not None and due <= end:
            self._start = max(self._start, due)
            self.run_due()
        self._start = end

    def jump(self) -> bool:
        """Go to the next due moment of virtual time and do what is due; False: nothing is."""
        self._virtual_now()
        due = self.next_due()
        if due is None:
            return False
        self._start = max(self._start, due)
        self.run_due()
        return True

    def _virtual_now(self) -> float:
        if self.speed is not None:
            raise RuntimeError("this clock runs by itself: only a virtual clock can be moved")
        return self._start


def timestamp(seconds: float) -> str:
    """Write a moment as Kubernetes' Time does: whole seconds, UTC."""
    return _whole(int(seconds))


@lru_cache(maxsize=16)  # much happens within a second
def _whole(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(seconds: float) -> str:
    """Write a moment as Kubernetes' MicroTime does."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_timestamp(text: str) -> float:
    """Read what the two above write, and any other RFC 3339 moment. Raises ValueError."""
    return datetime.fromisoformat(text).timestamp()
