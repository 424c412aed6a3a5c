"""Two ways to load a server over keep-alive connections: closed loop and open loop."""

import asyncio
import random
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from .connection import Connection, Request, dial
from .jobs import Job, Result
from .window import Window

WARMUP_SECONDS = 0.15
PATIENCE_SECONDS = 10.0
"""How long the last answers of an open loop may take."""


async def closed_loop(job: Job, requests: Iterator[Request], context: ssl.SSLContext) -> Result:
    """Let each connection send its next request as soon as it has an answer."""
    window = Window(job.pids)
    connections: list[Connection] = []
    repairs: set[asyncio.Task[None]] = set()

    def ask(connection: Connection) -> None:
        connection.send(next(requests), time.perf_counter())

    def done(connection: Connection, trouble: str) -> None:
        window.answered(connection.sent_at, trouble)
        if connection.alive:
            ask(connection)
        else:
            task = asyncio.create_task(open_another())
            repairs.add(task)
            task.add_done_callback(repairs.discard)

    async def open_another() -> None:
        try:
            connections.append(await dial(job.port, context, done))
        except OSError as error:
            window.answered(0.0, f"cannot connect: {error}")
        else:
            ask(connections[-1])

    try:
        dials = (dial(job.port, context, done) for _ in range(job.connections))
        connections.extend(await asyncio.gather(*dials))
        for connection in connections:
            ask(connection)
        await asyncio.sleep(WARMUP_SECONDS)
        window.start()
        await asyncio.sleep(job.seconds)
        return window.stop()
    finally:
        for task in repairs:
            task.cancel()
        for connection in connections:
            connection.close()


async def open_loop(job: Job, requests: Iterator[Request], context: ssl.SSLContext) -> Result:
    """Send requests when they are due, at random moments, and count from when they were due.

    So a server that stands still for a while pays for every request that it kept waiting.
    """
    window = Window(job.pids)
    idle: list[Connection] = []
    late: deque[float] = deque()
    unanswered = 0
    quiet = asyncio.Event()

    def dispatch(due: float) -> None:
        nonlocal unanswered
        unanswered += 1
        quiet.clear()
        if idle:
            idle.pop().send(next(requests), due)
        else:
            late.append(due)

    def done(connection: Connection, trouble: str) -> None:
        nonlocal unanswered
        if not connection.alive and connection.waiting is None:
            idle.remove(connection)  # closed while nothing was asked of it
            return
        unanswered -= 1
        if not unanswered:
            quiet.set()
        window.answered(connection.sent_at, trouble)
        if connection.alive and late:
            connection.send(next(requests), late.popleft())
        elif connection.alive:
            idle.append(connection)

    dials = (dial(job.port, context, done) for _ in range(job.connections))
    connections = await asyncio.gather(*dials)
    idle.extend(connections)
    try:
        window.start()
        await asyncio.to_thread(_tick, job, dispatch, asyncio.get_running_loop())
        with suppress(TimeoutError):
            await asyncio.wait_for(quiet.wait(), PATIENCE_SECONDS)
        for _ in range(unanswered):
            window.answered(0.0, f"no answer within {PATIENCE_SECONDS:.0f} s")
        return window.stop()
    finally:
        for connection in connections:
            connection.close()


def _tick(job: Job, dispatch: Callable[[float], None], loop: asyncio.AbstractEventLoop) -> None:
    """Call `dispatch` in the loop at every moment a request is due.

    In a thread, because event loops wake up on whole milliseconds only.
    """
    moments = random.Random(job.rate)  # noqa: S311 - the same moments for every server, no secret
    due = time.perf_counter()
    end = due + job.seconds
    while (due := due + moments.expovariate(job.rate)) < end:
        time.sleep(max(0.0, due - time.perf_counter()))
        loop.call_soon_threadsafe(dispatch, due)
