"""The work queue of a controller: keys that want to be looked at, each once however often asked.

For: folding many changes of one object into one turn, never two turns of one key at a time, and
waiting longer each time a key fails.
Not for: what a turn does.

Kubernetes: client-go util/workqueue with its default controller rate limiter (5 ms, doubling, at
most 1000 s, for each key).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from simulator.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulator.clock import Timer
    from simulator.controllers.background import Background
    from simulator.objects import Key

_log = logging.getLogger(__name__)

_FIRST_BACK_OFF_S: Final = 0.005
_LONGEST_BACK_OFF_S: Final = 1000.0


class WorkQueue:
    """Calls `sync` with keys; at most `workers` at once."""

    def __init__(
        self, background: Background, sync: Callable[[Key], Awaitable[None]], *, workers: int = 5
    ) -> None:
        self._background, self._sync = background, sync
        self._workers = workers
        self._waiting: dict[Key, None] = {}  # in the order in which they came
        self._active: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._later: dict[Key, Timer] = {}
        self._pumping = False

    def add(self, key: Key) -> None:
        """Have a key looked at as soon as a worker is free."""
        self._waiting[key] = None
        if not self._pumping:
            # Never within the write that is just being told.
            self._pumping = True
            self._background.clock.after(0, self._pump)

    def add_after(self, key: Key, seconds: float) -> None:
        """Have a key looked at in a while; the earliest such moment counts."""
        due = self._background.clock.now() + seconds
        planned = self._later.get(key)
        if planned is not None:
            if planned.due <= due:
                return
            planned.cancel()
        self._later[key] = self._background.clock.after(seconds, lambda: self._come(key))

    def _come(self, key: Key) -> None:
        del self._later[key]
        self.add(key)

    def _pump(self) -> None:
        self._pumping = False
        for key in [key for key in self._waiting if key not in self._active]:
            if len(self._active) >= self._workers:
                break
            del self._waiting[key]
            self._active.add(key)
            self._background.start(self._turn(key))

    async def _turn(self, key: Key) -> None:
        try:
            await self._sync(key)
        except ApiError as refused:
            # The usual life of a controller: refused writes are tried again, later each time.
            _log.debug("%s/%s: %s", *key, refused.message)
            self._again(key)
        except Exception:  # noqa: BLE001  one object that nobody foresaw must not end the controller
            _log.exception("a controller failed on %s/%s; it tries again", *key)
            self._again(key)
        else:
            self._failures.pop(key, None)
        finally:
            self._active.discard(key)
            if self._waiting and not self._pumping:
                self._pumping = True
                self._background.clock.after(0, self._pump)

    def _again(self, key: Key) -> None:
        times = self._failures.get(key, 0)
        self._failures[key] = times + 1
        wait = _FIRST_BACK_OFF_S * 2 ** min(times, 30)
        self.add_after(key, min(wait, _LONGEST_BACK_OFF_S))
