"""Connections to a webhook: kept, shared, spared, forgotten, as Go's transport does it."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import pytest

from simulator.admission.webhooks.pool import MOST_IDLE, Pool
from simulator.admission.webhooks.wire import BadAnswer, Connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Line:
    """A connection that is only counted."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    @property
    def usable(self) -> bool:
        return not self.closed.is_set()

    def close(self) -> None:
        self.closed.set()


class Dialler:
    """Dials when it is told to."""

    def __init__(self) -> None:
        self.dials: asyncio.Queue[asyncio.Future[Line]] = asyncio.Queue()

    async def __call__(self) -> Line:
        dial = asyncio.get_running_loop().create_future()
        self.dials.put_nowait(dial)
        return await dial

    async def answer(self) -> Line:
        """Answer the oldest dial, once there is one."""
        line = Line()
        (await self.dials.get()).set_result(line)
        return line


def run(scene: Callable[[Pool, Dialler], Awaitable[None]], idle_s: float = 90.0) -> None:
    async def play() -> None:
        dialler = Dialler()
        pool = Pool(dialler, idle_s)  # type: ignore[arg-type]  # a Line is all that it needs
        await scene(pool, dialler)
        pool.close()

    asyncio.run(play())


def taking(pool: Pool) -> asyncio.Task[Connection]:
    return asyncio.ensure_future(pool.take())


def test_the_one_given_back_last_is_taken_first() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        first, second = taking(pool), taking(pool)
        await dialler.answer()
        await dialler.answer()
        a, b = await first, await second
        pool.give(b)
        pool.give(a)
        assert await pool.take() is a
        assert await pool.take() is b
        assert dialler.dials.empty()

    run(scene)


def test_who_waits_for_a_dial_takes_what_is_free_first_and_the_dial_becomes_a_spare() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        first = taking(pool)
        await dialler.answer()
        busy = await first
        second = taking(pool)
        dial = await dialler.dials.get()
        pool.give(busy)
        assert await second is busy
        spare = Line()
        dial.set_result(spare)
        assert await pool.take() is spare

    run(scene)


def test_a_dial_that_fails_fails_the_one_who_waits_for_it() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        task = taking(pool)
        (await dialler.dials.get()).set_exception(ConnectionRefusedError())
        with pytest.raises(ConnectionRefusedError):
            await task

    run(scene)


def test_a_connection_that_comes_for_one_who_gave_up_is_kept() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        task = taking(pool)
        dial = await dialler.dials.get()
        task.cancel()
        await asyncio.wait([task])
        line = Line()
        dial.set_result(line)
        assert await pool.take() is line

    run(scene)


def test_no_more_than_25_are_kept_and_none_that_is_gone_is_taken() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        lines = [Line() for _ in range(MOST_IDLE + 1)]
        for line in lines:
            pool.give(line)  # type: ignore[arg-type]  # as above
        assert pool.idle == MOST_IDLE
        assert not lines[-1].usable
        for line in lines[1:]:
            line.close()
        assert await pool.take() is lines[0]
        assert dialler.dials.empty()

    run(scene)


def test_who_waits_for_a_dial_when_the_pool_is_closed_gets_it_and_nobody_after() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        waiting = taking(pool)
        dial = await dialler.dials.get()
        pool.close()
        line = Line()
        dial.set_result(line)
        connection = await waiting
        assert line.usable
        pool.give(connection)
        assert line.closed.is_set()

    run(scene)


def test_a_spare_is_dialled_no_more_when_the_pool_is_closed() -> None:
    async def scene(pool: Pool, dialler: Dialler) -> None:
        first = taking(pool)
        await dialler.answer()
        connection = await first
        second = taking(pool)
        dial = await dialler.dials.get()
        pool.give(connection)
        assert await second is connection
        pool.close()
        await asyncio.wait([dial])
        assert dial.cancelled()

    run(scene)


def test_what_nobody_needs_for_long_is_closed() -> None:
    async def scene(pool: Pool, _: Dialler) -> None:
        line = Line()
        pool.give(line)  # type: ignore[arg-type]  # as above
        await line.closed.wait()
        assert pool.idle == 0

    run(scene, idle_s=0.0)


ANSWERS: dict[str, tuple[bytes, bytes, bool]] = {
    "a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", True),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x=y\r\ni\r\n0\r\n\r\n",
        b"hi",
        True,
    ),
    "to the end": (b"HTTP/1.1 200 OK\r\n\r\nhi", b"hi", False),
    "after a 100": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"hi",
        True,
    ),
    "gzip": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
        % (len(gzip.compress(b"hi")), gzip.compress(b"hi")),
        b"hi",
        True,
    ),
    "closing": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        b"hi",
        False,
    ),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
}
NO_ANSWERS = {
    "nothing": (b"", "EOF"),
    "half a head": (b"HTTP/1.1 200", "unexpected EOF"),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "unexpected EOF"),
    "another protocol": (b"SSH-2.0\r\n\r\n", 'malformed HTTP response "SSH-2.0"'),
    "no length": (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "malformed HTTP response"),
    "too much": (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "99999999 bytes"),
    "no gzip": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
        "gzip",
    ),
}


async def ask(answer: bytes, *, ends: bool) -> tuple[bytes, bool]:
    """Ask a server that says this, and then ends the connection or not."""
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"?")
        writer.write(answer)
        if ends:
            writer.write_eof()
        await asked.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    connection = Connection(*await asyncio.open_connection(*server.sockets[0].getsockname()))
    try:
        return (await connection.ask(b"?")).body, connection.usable
    finally:
        connection.close()
        asked.set()
        server.close()


@pytest.mark.parametrize(("answer", "body", "kept"), ANSWERS.values(), ids=ANSWERS)
def test_answers_of_every_framing_are_read(answer: bytes, body: bytes, *, kept: bool) -> None:
    assert asyncio.run(ask(answer, ends=not kept)) == (body, kept)


@pytest.mark.parametrize(("answer", "why"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_said_to_be_none(answer: bytes, why: str) -> None:
    with pytest.raises(BadAnswer, match=why):
        asyncio.run(ask(answer, ends=True))
