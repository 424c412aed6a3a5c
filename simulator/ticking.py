"""Drives a clock within an asyncio loop: sleeps until something is due, then does it.

For: real and faster clocks, and what is due at once on a virtual one.
Not for: moving a virtual clock; whoever plays a scenario does that.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulator.clock import Clock

_TURN_S: Final = 0.02
"""Real seconds for what is due, before others have a turn of the loop."""

_log = logging.getLogger(__name__)


async def tick(clock: Clock) -> None:
    """Do what is due, for ever; ends only by being cancelled."""
    sooner, loop = asyncio.Event(), asyncio.get_running_loop()
    clock.on_sooner = sooner.set
    while True:
        sooner.clear()
        try:
            # A virtual clock does all of one moment in one go, and so always in the same order.
            clock.run_due(math.inf if clock.speed is None else _TURN_S)
        except Exception:  # noqa: BLE001  what is due may fail in any way
            # A fault in one part must not stop the time of all the others.
            _log.exception("something that was due failed; the clock goes on")
            continue
        # Not wait_for: Python 3.11's forgets that it was cancelled if the event came as well.
        seconds = clock.real_wait()
        if seconds == 0:  # much is due: requests have their turn in between
            await asyncio.sleep(0)
            continue
        alarm = None if seconds is None else loop.call_later(seconds, sooner.set)
        try:
            await sooner.wait()
        finally:
            if alarm is not None:
                alarm.cancel()
