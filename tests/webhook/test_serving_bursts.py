"""Bursts through silent and stalled connections, over real TLS to a real gunicorn.

The API server's client dials a spare connection for each waiting caller; servers that give each
connection a thread lose half of a burst to the silent ones.
"""

import asyncio
import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvloop
from certificates import HOST
from clients import Client, GoTransport
from servers import Running, serve

# Longer than anything may take, as the API server's own default.
CALL_SECONDS = 10.0

# What the bursts wait between each other, so that the pool is at rest.
PAUSE_SECONDS = 0.2

REVIEW = json.dumps({"request": {"uid": "705ab4f5", "object": {"pad": "x" * 6000}}}).encode()


def client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=HOST)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@contextmanager
def stalled_sockets(port: int) -> Iterator[None]:
    """Five that never say a word and five that stop within the ClientHello."""
    hello = client_hello()
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(10)]
    for sock in sockets[:5]:
        sock.send(hello[: len(hello) // 2])
    yield
    for sock in sockets:
        sock.close()


async def stalled_requests(server: Running) -> list[Client]:
    """Five that stop within the head and five that stop within the body."""
    head = f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(REVIEW)}\r\n"
    clients = [await Client.dial(server.port, server.client_context()) for _ in range(10)]
    for client in clients[:5]:
        client.writer.write(head.encode())
    for client in clients[5:]:
        client.writer.write(f"{head}\r\n".encode() + REVIEW[: len(REVIEW) // 2])
    return clients


async def burst(transport: GoTransport, size: int) -> list[float]:
    """Call `size` times at once; the seconds each took, sorted. Every call must succeed."""

    async def call() -> float:
        start = time.perf_counter()
        async with asyncio.timeout(CALL_SECONDS):
            reply = await transport.post(REVIEW)
        assert (reply.status, json.loads(reply.body)["response"]["uid"]) == (200, "705ab4f5")
        return time.perf_counter() - start

    return sorted(await asyncio.gather(*(call() for _ in range(size))))


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_no_call_of_a_burst_fails_beside_silent_and_stalled_connections(
    tmp_path: Path, loop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario(server: Running) -> list[str]:
        lines = []
        stalled = await stalled_requests(server)
        transport = GoTransport(server.port, server.client_context())
        for size in (20, 100, 200):
            for _ in range(2):
                await asyncio.sleep(PAUSE_SECONDS)
                before = transport.dialled
                times = await burst(transport, size)
                p99 = times[int(size * 0.99) - 1]
                dialled = transport.dialled - before
                lines.append(f"{loop}: burst of {size}: p99 {p99 * 1e3:.0f} ms, {dialled} dialled")
        await transport.close()
        for client in stalled:
            await client.close()
        return lines

    with serve(tmp_path, loop=loop) as server, stalled_sockets(server.port):
        lines = uvloop.run(scenario(server))
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201 - figures are for people
