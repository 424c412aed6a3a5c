"""Bursts as the API server makes them: many callers at once, each dials, any connection serves.

Go's HTTP client dials a connection for every caller that finds none idle, and gives each caller
whichever connection is free first: its own or one that another has finished with. The others
stay open and silent, up to 25; a server that waits for their first request has one place less.
"""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Iterator

from .connection import Connection, Request, dial
from .jobs import Job, Result
from .window import Window

PAUSE_SECONDS = 0.3
DEADLINE_SECONDS = 10.0
"""The API server's default for a webhook call."""
IDLE_KEPT = 25
"""Idle connections per host that the API server keeps."""


async def bursts(job: Job, requests: Iterator[Request], context: ssl.SSLContext) -> Result:
    """Send `job.bursts` bursts of `job.callers`, each after a pause."""
    window = Window(job.pids)
    window.start()
    pool = _Pool(job.port, context, window)
    try:
        for _ in range(job.bursts):
            await asyncio.sleep(PAUSE_SECONDS)
            await pool.burst([next(requests) for _ in range(job.callers)])
        return window.stop()
    finally:
        pool.close()


class _Pool:
    """The connections of one API server to one webhook."""

    def __init__(self, port: int, context: ssl.SSLContext, window: Window) -> None:
        self._port, self._context, self._window = port, context, window
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._dials: set[asyncio.Task[None]] = set()
        self._callers: deque[tuple[Request, float]] = deque()
        """Who has no connection yet, and since when."""
        self._unanswered = 0
        self._over = asyncio.Event()

    async def burst(self, requests: list[Request]) -> None:
        """Let all callers come at this moment; return when all have an answer or gave up."""
        self._over.clear()
        now = time.perf_counter()
        self._unanswered = len(requests)
        self._callers.extend((request, now) for request in requests)
        for connection in [self._idle.pop() for _ in range(len(self._idle))]:
            self._offer(connection)
        for _ in range(len(self._callers)):
            task = asyncio.create_task(self._dial())
            self._dials.add(task)  # goes on when all callers are served: a silent connection
            task.add_done_callback(self._dials.discard)
        try:
            await asyncio.wait_for(self._over.wait(), DEADLINE_SECONDS)
        except TimeoutError:
            for _ in range(self._unanswered):
                self._window.answered(now, f"no answer within {DEADLINE_SECONDS:.0f} s")
            self.close()

    def close(self) -> None:
        """Close all connections and forget who waits."""
        for task in self._dials:
            task.cancel()
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._idle.clear()
        self._callers.clear()

    async def _dial(self) -> None:
        try:
            connection = await dial(self._port, self._context, self._done)
        except OSError as error:  # as in Go: the caller who dialled gets the error
            if self._callers:
                _, since = self._callers.popleft()
                self._finish(since, f"cannot connect: {error}")
            return
        self._all.add(connection)
        self._offer(connection)

    def _offer(self, connection: Connection) -> None:
        """Give a free connection to who has waited longest; without one, keep or close it."""
        if self._callers:
            connection.send(*self._callers.popleft())
        elif len(self._idle) < IDLE_KEPT:
            self._idle.append(connection)
        else:
            self._all.discard(connection)
            connection.close()

    def _done(self, connection: Connection, trouble: str) -> None:
        if connection.waiting is None and not connection.alive:
            self._all.discard(connection)
            if connection in self._idle:
                self._idle.remove(connection)
            return
        self._finish(connection.sent_at, trouble)
        if connection.alive:
            self._offer(connection)
        else:
            self._all.discard(connection)

    def _finish(self, since: float, trouble: str) -> None:
        self._window.answered(since, trouble)
        self._unanswered -= 1
        if self._unanswered == 0:
            self._over.set()
