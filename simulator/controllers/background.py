"""Coroutines that work in the API server's thread and sleep by the cluster's clock.

For: whoever writes through admission, which may take its time, and waits by the clock between.
`idle` tells a virtual clock when it may jump: when nobody works, all sleep or have ended.
Not for: driving the clock (`ticking`), and not for other threads.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from simulator.clock import Clock

_log = logging.getLogger(__name__)


class Background:
    """Runs coroutines, and knows how many are neither asleep nor done."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._working = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._idlers: list[asyncio.Future[None]] = []

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` beside everything else. Needs the running loop of the server's thread."""
        self._working += 1
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def sleep(self, seconds: float) -> None:
        """Let time of the cluster pass, within work that was started here."""
        woken = asyncio.get_running_loop().create_future()
        timer = self.clock.after(seconds, lambda: self._wake(woken))
        self._rest()
        try:
            await woken
        except asyncio.CancelledError:
            if woken.cancelled():  # still asleep: awake to end, as whoever ends counts as working
                timer.cancel()
                self._working += 1
            raise

    async def together(self, works: Sequence[Coroutine[Any, Any, None]]) -> list[Exception]:
        """Run all of them at once and wait for all; returns what went wrong."""
        if not works:
            return []
        self._working += len(works) - 1  # who waits for the others does not work
        left = len(works)

        async def counted(work: Coroutine[Any, Any, None]) -> None:
            nonlocal left
            try:
                await work
            finally:
                left -= 1
                if left:  # the last one hands its place to whoever waits
                    self._rest()

        results = await asyncio.gather(*map(counted, works), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, Exception):
                raise result
        return [result for result in results if isinstance(result, Exception)]

    async def idle(self) -> None:
        """Wait until everybody sleeps or is done: nothing happens before time goes on."""
        while self._working:
            rested = asyncio.get_running_loop().create_future()
            self._idlers.append(rested)
            await rested

    async def advance(self, seconds: float) -> None:
        """Let `seconds` of virtual time pass; each moment waits for the work of the one before."""
        clock = self.clock
        end = clock.now() + seconds
        await self.idle()
        while (due := clock.next_due()) is not None and due <= end:
            clock.jump()
            await self.idle()
        clock.advance(end - clock.now())

    def _wake(self, woken: asyncio.Future[None]) -> None:
        self._working += 1
        woken.set_result(None)

    def _rest(self) -> None:
        self._working -= 1
        if not self._working:
            idlers, self._idlers = self._idlers, []
            for idler in idlers:
                if not idler.done():
                    idler.set_result(None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._rest()
        if not task.cancelled() and task.exception() is not None:
            _log.error("work in the background failed", exc_info=task.exception())
