"""Certificates renewed under load, over real TLS to a real gunicorn."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from certificates import HOST, Pair
from clients import Client
from servers import DEADLINE, Running, serve

SWAPS = 200
REVIEW = json.dumps({"request": {"uid": "705ab4f5", "object": {"pad": "x" * 6000}}}).encode()


@dataclass
class Load:
    """Calls over connections that are kept and over new ones. The first failure ends it."""

    server: Running
    kept_calls: int = 0
    new_calls: int = 0
    stopping: bool = False
    called: asyncio.Event = field(default_factory=asyncio.Event)
    serials: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._context = self.server.client_context()

    async def dial(self, name: str | None = HOST) -> Client:
        return await Client.dial(self.server.port, self._context, name)

    async def kept(self) -> None:
        async with await self.dial() as client:
            while not self.stopping:
                await check(client)
                self.kept_calls += 1

    async def new(self, name: str | None) -> None:
        while not self.stopping:
            async with await self.dial(name) as client:
                await check(client)
                self.serials.add(client.serial)
                self.new_calls += 1
                self.called.set()

    async def seen(self, serial: str) -> None:
        """Wait until new connections get the certificate `serial`."""
        async with asyncio.timeout(DEADLINE):
            while True:
                async with await self.dial() as client:
                    await check(client)
                    if client.serial == serial:
                        return

    async def calls(self, count: int) -> None:
        """Wait for `count` more calls over new connections."""
        target = self.new_calls + count
        async with asyncio.timeout(DEADLINE):
            while self.new_calls < target:
                self.called.clear()
                await self.called.wait()


async def check(client: Client) -> None:
    reply = await client.post(REVIEW)
    assert reply.status == 200, reply


@asynccontextmanager
async def load_on(server: Running) -> AsyncIterator[Load]:
    load = Load(server)
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(load.kept())
        for name in (HOST, None):
            group.create_task(load.new(name))
        try:
            yield load
        finally:
            load.stopping = True  # cancelled in mid-handshake, asyncio would leak the socket


def run(server: Running, scenario: Callable[[Load], Awaitable[None]]) -> Load:
    async def under_load() -> Load:
        async with load_on(server) as load:
            await scenario(load)
        return load

    return asyncio.run(under_load())


def test_no_handshake_and_no_call_fails_while_certificates_are_swapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def swaps(load: Load) -> None:
        for _ in range(SWAPS):
            pair = load.server.authority.issue()
            load.server.volume.write(pair)
            await load.seen(pair.serial)

    with serve(tmp_path) as server:
        load = run(server, swaps)
        assert "ERROR" not in server.log()
    with capsys.disabled():
        print(  # noqa: T201 - figures are for people
            f"\n{SWAPS} swaps, each seen by new connections: {load.kept_calls} calls over kept and "
            f"{load.new_calls} over new connections, none failed"
        )


def test_torn_files_keep_the_old_certificate(tmp_path: Path) -> None:
    async def torn(load: Load) -> None:
        authority, volume = load.server.authority, load.server.volume
        good, other = authority.issue(), authority.issue()
        volume.write(good)
        await load.seen(good.serial)
        for _ in range(3):
            volume.write(Pair(other.certificate, good.key, other.serial))
            await asyncio.to_thread(load.server.wait_for_log, "does not belong to the certificate")
            load.serials.clear()
            await load.calls(20)
            assert load.serials == {good.serial}
        volume.write(other)
        await load.seen(other.serial)

    with serve(tmp_path) as server:
        run(server, torn)
        # Three torn versions, looked at every 10 ms: one message each.
        assert server.log().count("does not belong to the certificate") == 3


def test_a_certificate_deleted_and_written_in_place(tmp_path: Path) -> None:
    async def rewritten(load: Load) -> None:
        volume, pair = load.server.volume, load.server.authority.issue()
        for file in (volume.certificate, volume.key):
            file.unlink()
        await asyncio.to_thread(load.server.wait_for_log, "cannot find")
        await load.calls(5)
        volume.certificate.write_bytes(pair.certificate)
        volume.key.write_bytes(pair.key)
        await load.seen(pair.serial)

    # Small steps of the clock: files may be seen half written, which must not matter.
    with serve(tmp_path, certificate_poll=0.001) as server:
        run(server, rewritten)


def test_without_a_usable_certificate_nothing_is_served(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate")
    with (
        pytest.raises(AssertionError, match="the server ended"),
        serve(tmp_path / "server", certificate=bad, key=bad),
    ):
        pass  # pragma: no cover
    log = (tmp_path / "server" / "log").read_text()
    assert "are not a certificate and its key in PEM" in log
    assert "Worker failed to boot" in log


def test_new_connections_agree_on_tls_1_3_and_http_1_1(tmp_path: Path) -> None:
    async def scenario(server: Running) -> None:
        context = server.client_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        async with await Client.dial(server.port, context) as client:
            tls = client.writer.get_extra_info("ssl_object")
            assert (tls.version(), tls.selected_alpn_protocol()) == ("TLSv1.3", "http/1.1")

    with serve(tmp_path) as server:
        asyncio.run(scenario(server))
