"""Connections to one webhook that are kept, as Go's http.Transport keeps them.

For: taking one and giving it back. The newest idle one is taken first; who finds none starts a
dial and takes whatever is free first, so that a burst leaves spare connections behind.
Not for: HTTP. Seconds here are real ones: they are the patience of machines on the wire.

Go: net/http.Transport (getConn, tryPutIdleConn, queueForDial).
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulator.admission.webhooks.wire import Connection

IDLE_S: Final = 90.0
MOST_IDLE: Final = 25
"""client-go's transport cache: MaxIdleConnsPerHost."""


class Pool:
    """The connections to one place, all made by `dial`."""

    def __init__(self, dial: Callable[[], Awaitable[Connection]], idle_s: float = IDLE_S) -> None:
        self._dial, self._idle_s = dial, idle_s
        self._idle: list[tuple[Connection, asyncio.TimerHandle]] = []
        self._waiting: deque[asyncio.Future[Connection]] = deque()
        self._dials: dict[asyncio.Task[None], asyncio.Future[Connection]] = {}  # and for whom
        self._closed = False

    @property
    def idle(self) -> int:
        """How many connections wait for work."""
        return len(self._idle)

    async def take(self) -> Connection:
        """Give a connection for one request. Raises what dialling raised."""
        while self._idle:
            connection, timer = self._idle.pop()
            timer.cancel()
            if connection.usable:
                return connection
            connection.close()
        waiter: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        dial = asyncio.ensure_future(self._dial_for(waiter))
        self._dials[dial] = waiter
        dial.add_done_callback(self._dials.pop)
        try:
            return await waiter
        except asyncio.CancelledError:
            # It may have come at the very moment in which its caller gave up.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.give(waiter.result())
            raise

    def give(self, connection: Connection) -> None:
        """Take a connection back: for whoever waits, else to be kept for a while."""
        if self._closed or not connection.usable:
            connection.close()
            return
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        if len(self._idle) >= MOST_IDLE:
            connection.close()
            return
        timer = asyncio.get_running_loop().call_later(self._idle_s, self._forget, connection)
        self._idle.append((connection, timer))

    def close(self) -> None:
        """Close what is idle; a connection at work, or waited for, is closed when given back.

        As in client-go, a call that has begun goes on when its configuration changes.
        """
        self._closed = True
        for dial, waiter in tuple(self._dials.items()):
            if waiter.done():  # it would be a spare
                dial.cancel()
        while self._idle:
            connection, timer = self._idle.pop()
            timer.cancel()
            connection.close()

    def _forget(self, connection: Connection) -> None:
        self._idle = [one for one in self._idle if one[0] is not connection]
        connection.close()

    async def _dial_for(self, waiter: asyncio.Future[Connection]) -> None:
        """Dial for a waiter; a failure is its own, a connection that it does not need a spare."""
        try:
            connection = await self._dial()
        except Exception as error:  # noqa: BLE001  handed over to the one who waits
            if not waiter.done():
                waiter.set_exception(error)
            return
        if waiter.done():
            self.give(connection)
        else:
            waiter.set_result(connection)
