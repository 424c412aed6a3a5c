"""Stopping under load, over real TLS to a real gunicorn (case 23, with shorter times)."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from certificates import HOST
from clients import Client, Reply
from servers import DEADLINE, Running, serve, serve_many

REVIEW = json.dumps({"request": {"uid": "705ab4f5", "object": {"pad": "x" * 6000}}}).encode()
HEAD = f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(REVIEW)}\r\n".encode()

STOPS = 20
AT_ONCE = 5  # servers stopped at the same time
KEPT = 8  # connections that are kept, per server
CALL_EVERY = 0.01  # seconds between two calls on one connection

NO_MORE_CONNECTIONS = "stopping: no new connections"


@dataclass
class Load:
    """Calls over connections that are kept until the server gives them up."""

    server: Running
    calls: int = 0
    ended: list[Reply] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.context = self.server.client_context()

    async def dial(self) -> Client:
        return await Client.dial(self.server.port, self.context)

    async def keep_calling(self, every: float = CALL_EVERY) -> None:
        """Call until an answer says that the connection ends. A lost call raises."""
        async with await self.dial() as client:
            while True:
                reply = await client.post(REVIEW)
                assert reply.status == 200
                self.calls += 1
                self.called.set()
                if reply.closes:
                    self.ended.append(reply)
                    return
                await asyncio.sleep(every)

    async def new_connections_until(self, end: float) -> int:
        """Call over a new connection each time. None may fail before `end` on the loop's clock."""
        count = 0
        while True:
            try:
                async with await self.dial() as client:
                    assert (await client.post(REVIEW)).status == 200
            except OSError:
                if asyncio.get_running_loop().time() > end:
                    return count
                raise
            count += 1
            await asyncio.sleep(CALL_EVERY)

    async def more(self, count: int) -> None:
        """Wait for `count` more calls."""
        target = self.calls + count
        while self.calls < target:
            self.called.clear()
            await self.called.wait()


async def wait_for_log(server: Running, text: str) -> None:
    await asyncio.to_thread(server.wait_for_log, text)


async def exit_code(server: Running) -> int:
    return await asyncio.to_thread(server.wait)


async def not_ready(client: Client) -> Reply:
    """Ask readyz over this connection until it says 503; that answer."""
    while True:
        client.send("GET", "/readyz")
        reply = await client.receive()
        if reply.status != 200:
            assert reply.status == 503
            return reply


async def stop_under_load(server: Running) -> Load:
    load = Load(server)
    probe = await load.dial()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for _ in range(KEPT):
            group.create_task(load.keep_calling())
        await load.more(5 * KEPT)
        server.process.send_signal(signal.SIGTERM)

        reply = await not_ready(probe)
        assert b"shutting down" in reply.body
        assert not reply.closes, "readiness must fail while everything is still served"

        for _ in range(3):
            server.process.send_signal(signal.SIGTERM)
            os.kill(server.worker_pid(), signal.SIGTERM)
            await load.more(KEPT)
    await probe.close()
    assert await exit_code(server) == 0
    return load


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_no_call_on_a_kept_connection_is_lost(
    tmp_path: Path, loop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def all_of(servers: list[Running]) -> list[Load]:
        return await asyncio.gather(*(stop_under_load(server) for server in servers))

    calls = 0
    for batch in range(STOPS // 2 // AT_ONCE):
        directory = tmp_path / str(batch)
        with serve_many(directory, AT_ONCE, loop=loop, drain=0.5, closing=2) as servers:
            for load in asyncio.run(all_of(servers)):
                assert len(load.ended) == KEPT, "each connection ends with an answer"
                calls += load.calls
    with capsys.disabled():
        print(f"\n{loop}: {STOPS // 2} stops, {calls} calls, none lost")  # noqa: T201 - figures are for people


def run(server: Running, scenario: Callable[[Load], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(DEADLINE):
            await scenario(Load(server))

    asyncio.run(bounded())


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_a_rolling_update_drops_no_call(tmp_path: Path, loop: str) -> None:
    """Case 23: 1 s stands for its 5 s, and 1.25 of 2 s for its 75 of 120 s idle."""
    drain, keepalive, idle = 1.0, 2, 1.25

    async def scenario(load: Load) -> None:
        clock = asyncio.get_running_loop()
        resting = [await load.dial() for _ in range(5)]
        for client in resting:
            assert (await client.post(REVIEW)).status == 200
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(load.keep_calling(every=0.1))
            await asyncio.sleep(idle)
            for client in resting:
                assert (await client.post(REVIEW)).status == 200
            end = clock.time() + drain
            load.server.process.send_signal(signal.SIGTERM)
            fresh = group.create_task(load.new_connections_until(end))
        assert fresh.result() > 0
        assert len(load.ended) == 20
        for client in resting:
            await client.close()
        assert await exit_code(load.server) == 0

    with serve(tmp_path, loop=loop, drain=drain, closing=5, keepalive=keepalive) as server:
        run(server, scenario)


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_whatever_had_begun_is_answered_after_the_drain(tmp_path: Path, loop: str) -> None:
    async def scenario(load: Load) -> None:
        half_head, half_body, silent, used = [await load.dial() for _ in range(4)]
        half_head.writer.write(HEAD)
        half_body.writer.write(HEAD + b"\r\n" + REVIEW[:3000])
        assert (await used.post(REVIEW)).status == 200
        # Connected, but its handshake starts only when nothing new is accepted any more.
        tcp_only = await asyncio.open_connection("127.0.0.1", load.server.port)
        load.server.process.send_signal(signal.SIGTERM)
        await wait_for_log(load.server, NO_MORE_CONNECTIONS)
        with pytest.raises(ConnectionRefusedError):
            await load.dial()

        await tcp_only[1].start_tls(load.context, server_hostname=HOST)
        late = Client(*tcp_only)
        half_head.writer.write(b"\r\n" + REVIEW)
        half_body.writer.write(REVIEW[3000:])
        for client in (silent, used, late):
            client.send("POST", "/mutate", REVIEW)
        for client in (half_head, half_body, silent, used, late):
            reply = await client.receive()
            assert (reply.status, reply.closes) == (200, True)
            assert await client.reader.read() == b"", "the server closes after that"
            await client.close()
        assert await exit_code(load.server) == 0

    with serve(tmp_path, loop=loop, drain=0.2, closing=20) as server:
        run(server, scenario)
    log = server.log()
    said = ["serving on", "told that connections are accepted", "told to end background work"]
    assert sorted(said, key=log.index) == said


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_a_handshake_alone_is_waited_for(tmp_path: Path, loop: str) -> None:
    async def scenario(load: Load) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", load.server.port)
        load.server.process.send_signal(signal.SIGTERM)
        await wait_for_log(load.server, NO_MORE_CONNECTIONS)
        await writer.start_tls(load.context, server_hostname=HOST)
        async with Client(reader, writer) as client:
            assert (await client.post(REVIEW)).closes
        assert await exit_code(load.server) == 0

    with serve(tmp_path, loop=loop, drain=0.2, closing=20) as server:
        run(server, scenario)


def test_idle_connections_are_closed_at_the_very_end(tmp_path: Path) -> None:
    async def scenario(load: Load) -> None:
        clock = asyncio.get_running_loop()
        clients = [await load.dial() for _ in range(3)]
        assert (await clients[0].post(REVIEW)).status == 200
        load.server.process.send_signal(signal.SIGTERM)
        await wait_for_log(load.server, NO_MORE_CONNECTIONS)
        closing = clock.time()
        for client in clients:
            assert await client.reader.read() == b""
            await client.close()
        # The log is looked at every 10 ms; half of the second is proof enough.
        assert clock.time() - closing > 0.5
        assert await exit_code(load.server) == 0

    with serve(tmp_path, drain=0, closing=1) as server:
        run(server, scenario)
    assert "cut off" not in server.log()


def test_an_unfinished_request_cannot_hold_up_the_stop(tmp_path: Path) -> None:
    async def scenario(load: Load) -> None:
        client = await load.dial()
        client.writer.write(HEAD + b"\r\n" + REVIEW[:3000])
        await client.writer.drain()
        # An answer on another connection: by now the half request was read as well.
        async with await load.dial() as other:
            assert (await other.post(REVIEW)).status == 200
        load.server.process.send_signal(signal.SIGTERM)
        assert await exit_code(load.server) == 0
        await client.close()

    with serve(tmp_path, drain=0, closing=0.2) as server:
        run(server, scenario)
    assert "stopping: 1 connections are cut off" in server.log()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("draining", [False, True], ids=["serving", "draining"])
def test_sigint_and_sigquit_end_it_soon(
    tmp_path: Path,
    kind: signal.Signals,
    draining: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    async def scenario(load: Load) -> None:
        async with await load.dial() as client:
            assert (await client.post(REVIEW)).status == 200
            if draining:
                load.server.process.send_signal(signal.SIGTERM)
                await wait_for_log(load.server, "stopping: serving on")
            load.server.process.send_signal(kind)
            assert await exit_code(load.server) == 0

    # Much longer than the test waits.
    with serve(tmp_path, drain=10 * DEADLINE, closing=10 * DEADLINE) as server:
        run(server, scenario)


def test_without_connections_the_end_is_not_waited_for(tmp_path: Path) -> None:
    with serve(tmp_path, drain=0, closing=10 * DEADLINE) as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 0
