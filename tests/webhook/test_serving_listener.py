"""Accepting connections, and stopping without losing one, on both event loops."""

import asyncio
import errno
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from webhook.listener import ACCEPTS_PER_TURN, Listener

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a coroutine on one of the event loops."""
    runner: Run = request.param
    return runner


def listening() -> socket.socket:
    sock = socket.create_server(("127.0.0.1", 0), backlog=500)
    sock.setblocking(False)
    return sock


def dial(sock: socket.socket) -> socket.socket:
    return socket.create_connection(sock.getsockname())


def test_connections_are_accepted(run: Run) -> None:
    async def scenario() -> None:
        accepted: asyncio.Queue[socket.socket] = asyncio.Queue()
        with listening() as sock:
            listener = Listener(asyncio.get_running_loop(), sock, accepted.put_nowait)
            listener.start()
            for _ in range(3):
                with dial(sock), await accepted.get() as connection:
                    assert not connection.getblocking()
                    assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            listener.close()

    run(scenario())


def test_what_waits_in_the_queue_is_accepted_before_the_close(run: Run) -> None:
    async def scenario() -> None:
        accepted: list[socket.socket] = []
        with listening() as sock:
            listener = Listener(asyncio.get_running_loop(), sock, accepted.append)
            listener.start()
            # The loop has no chance to accept any of them by itself.
            count = 2 * ACCEPTS_PER_TURN + 1
            clients = [dial(sock) for _ in range(count)]
            listener.close()
            listener.close()
            assert len(accepted) == count
            assert sock.fileno() == -1
        for server, client in zip(accepted, clients, strict=True):
            server.send(b"x")
            assert client.recv(1) == b"x"
            server.close()
            client.close()

    run(scenario())


class Exhausted(socket.socket):
    """A listening socket that cannot accept twice."""

    failures = 2

    def accept(self) -> tuple[socket.socket, Any]:
        """Fail as accept does when the process has too many files open."""
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_out_of_file_descriptors_is_a_pause(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("webhook.listener.RETRY_SECONDS", 0.01)

    async def scenario() -> None:
        accepted: asyncio.Queue[socket.socket] = asyncio.Queue()
        with Exhausted(fileno=listening().detach()) as sock:
            listener = Listener(asyncio.get_running_loop(), sock, accepted.put_nowait)
            listener.start()
            with dial(sock), await accepted.get():
                pass
            listener.close()

    run(scenario())
    assert [r.getMessage() for r in caplog.records] == [
        "cannot accept connections for a moment: [Errno 24] Too many open files; raise `ulimit -n`"
    ] * 2


def test_a_pause_does_not_outlive_the_close(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.listener.RETRY_SECONDS", 0)

    async def scenario() -> None:
        with Exhausted(fileno=listening().detach()) as sock:
            listener = Listener(asyncio.get_running_loop(), sock, lambda _: None)
            listener.start()
            listener._pause(OSError(errno.EMFILE, "Too many open files"))  # noqa: SLF001 - the moment cannot be had otherwise
            listener.close()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    run(scenario())
