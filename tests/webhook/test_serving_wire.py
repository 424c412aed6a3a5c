"""Odd, large and too many requests, over real TLS to a real gunicorn."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from certificates import HOST
from clients import Client
from servers import DEADLINE, Running, serve

REVIEW = b'{"request": {"uid": "705ab4f5"}}'
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run one server for all tests that only ask."""
    with serve(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server that answers with the length of the body, up to 4 MiB."""
    directory = tmp_path_factory.mktemp("counting")
    with serve(directory, answer="stub_server:length", body_bytes=4 * MIB) as running:
        yield running


def run(
    server: Running, scenario: Callable[[Callable[[], Awaitable[Client]]], Awaitable[None]]
) -> None:
    """Run a scenario that gets a function to dial with; everything dialled is closed after it."""

    async def bounded() -> None:
        context = server.client_context()
        async with AsyncExitStack() as stack, asyncio.timeout(DEADLINE):

            async def dial() -> Client:
                return await stack.enter_async_context(await Client.dial(server.port, context))

            await scenario(dial)

    asyncio.run(bounded())


Dial = Callable[[], Awaitable[Client]]


@pytest.mark.parametrize(
    ("name", "method", "path", "body", "status"),
    [
        ("needs-patch", "POST", "/mutate", REVIEW, 200),
        ("query-timeout", "POST", "/mutate?timeout=10s", REVIEW, 200),
        ("escaped path", "POST", "/mutat%65", REVIEW, 200),
        ("empty-body", "POST", "/mutate", b"", 400),
        ("not-json", "POST", "/mutate", b"hello", 400),
        ("json-array", "POST", "/mutate", b"[]", 400),
        ("get", "GET", "/mutate", b"", 405),
        ("head", "HEAD", "/mutate", b"", 405),
        ("put", "PUT", "/mutate", REVIEW, 405),
        ("slash behind it", "POST", "/mutate/", REVIEW, 405),
        ("elsewhere", "POST", "/validate", REVIEW, 405),
        ("nowhere", "GET", "/nope", b"", 404),
        ("up", "GET", "/../mutate", b"", 404),
        ("healthz", "GET", "/healthz", b"", 200),
        ("readyz", "GET", "/readyz?verbose", b"", 200),
        ("metrics", "GET", "/metrics", b"", 200),
        ("healthz with a body", "GET", "/healthz", REVIEW, 413),
    ],
)
def test_status(  # noqa: PLR0913, PLR0917 - one per column of the table
    server: Running, name: str, method: str, path: str, body: bytes, status: int
) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        client.send(method, path, body)
        if method == "HEAD":
            assert b" 405 " in await client.reader.readline()
            return
        reply = await client.receive()
        assert reply.status == status, name
        if status == 200 and method == "POST":
            assert reply.headers["content-type"] == "application/json"
            assert json.loads(reply.body)["response"]["uid"] == "705ab4f5"
        if status == 405:
            assert reply.headers["allow"] == ("POST" if path == "/mutate" else "GET, HEAD")
        assert b"Traceback" not in reply.body

    run(server, scenario)


def test_one_connection_serves_all_kinds_of_requests(server: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        for method, path, body, status in [
            ("POST", "/mutate", REVIEW, 200),
            ("GET", "/healthz", b"", 200),
            ("GET", "/nope", b"", 404),
            ("GET", "/mutate", b"", 405),
            ("POST", "/mutate", b"x", 400),
            ("POST", "/mutate", REVIEW, 200),
        ]:
            client.send(method, path, body)
            reply = await client.receive()
            assert (reply.status, reply.closes) == (status, False)

    run(server, scenario)


@pytest.mark.parametrize(
    "junk",
    [
        b"\r\n\r\n",
        b"\x16\x03\x01\x00",
        b"GET",
        b"POST /mutate HTTP/9.9",
        b"GET / HTTP/1.1\nX: y",
        b"POST /mutate HTTP/1.1\r\nContent-Length: " + b"9" * 5000,
    ],
)
def test_junk_is_refused_and_harms_nobody(server: Running, junk: bytes) -> None:
    async def scenario(dial: Dial) -> None:
        bad, good = await dial(), await dial()
        bad.writer.write(junk + b"\r\n\r\n")
        assert (await good.post(REVIEW)).status == 200
        assert (await bad.receive()).status == 400
        assert (await good.post(REVIEW)).status == 200

    run(server, scenario)


def test_two_requests_at_once_are_answered_in_order(server: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        for uid in ("first", "second", "third"):
            client.send("POST", "/mutate", json.dumps({"request": {"uid": uid}}).encode())
        for uid in ("first", "second", "third"):
            assert json.loads((await client.receive()).body)["response"]["uid"] == uid

    run(server, scenario)


def test_a_client_that_asks_for_the_end_of_the_connection_gets_it(server: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        client.send("POST", "/mutate", REVIEW, "Connection: close")
        assert (await client.receive()).closes
        assert await client.reader.read() == b""

    run(server, scenario)


def test_failed_handshakes_leave_nothing_behind(server: Running) -> None:
    async def attempt(garbage: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(garbage)
        await reader.read()
        writer.close()

    async def scenario(dial: Dial) -> None:
        client = await dial()
        open_files = Path(f"/proc/{server.worker_pid()}/fd")
        assert (await client.post(REVIEW)).status == 200
        before = len(os.listdir(open_files))  # noqa: PTH208 - a count
        await asyncio.gather(*(attempt(b"GET / HTTP/1.1\r\n\r\n") for _ in range(50)))
        while len(os.listdir(open_files)) > before:  # noqa: PTH208 - a count
            assert (await client.post(REVIEW)).status == 200

    run(server, scenario)


@pytest.mark.parametrize("size", [MIB, 3 * MIB, 4 * MIB])
def test_large_bodies_are_read_whole(counting: Running, size: int) -> None:
    async def scenario(dial: Dial) -> None:
        reply = await (await dial()).post(b"x" * size)
        assert (reply.status, reply.body) == (200, b"%d" % size)

    run(counting, scenario)


def chunked(size: int, parts: int) -> bytes:
    body = b"x" * (size // parts)
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n"
    head = f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode() + chunk * parts + b"0\r\n\r\n"


def test_chunked_bodies_are_read_whole(counting: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        client.writer.write(chunked(2 * MIB, 64))
        reply = await client.receive()
        assert (reply.status, reply.body, reply.closes) == (200, b"%d" % (2 * MIB), False)

    run(counting, scenario)


def test_a_body_in_small_pieces_is_read_whole(counting: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client, other = await dial(), await dial()
        client.writer.write(
            f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 9\r\n".encode()
        )
        for piece in (b"\r", b"\n", b"123", b"45678", b"9"):
            client.writer.write(piece)
            await client.writer.drain()
            assert (await other.post(b"x")).body == b"1"  # the piece has been read by now
        assert (await client.receive()).body == b"9"

    run(counting, scenario)


@pytest.mark.parametrize("kind", ["announced", "chunked"])
def test_bodies_over_the_cap_are_413(counting: Running, kind: str) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        if kind == "announced":
            client.send("POST", "/mutate", b"x" * (6 * MIB))
        else:
            client.writer.write(chunked(6 * MIB, 64))
        reply = await client.receive()
        assert (reply.status, reply.closes) == (413, True)
        assert b"larger than 4194304 bytes" in reply.body

    run(counting, scenario)


def test_an_endless_body_is_refused_long_before_its_end(counting: Running) -> None:
    async def scenario(dial: Dial) -> None:
        client = await dial()
        head = f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 1000000000000\r\n\r\n"
        client.writer.write(head.encode() + b"x" * 100_000)
        assert (await client.receive()).status == 413

    run(counting, scenario)


async def half_a_body(dial: Dial) -> Client:
    client = await dial()
    client.writer.write(
        f"POST /mutate HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 8\r\n\r\n1234".encode()
    )
    await client.writer.drain()
    return client


@pytest.mark.parametrize(
    "limit", [{"reading_requests": 2}, {"reading_bytes": 8}], ids=["requests", "bytes"]
)
def test_overload_is_429_and_ends_by_itself(tmp_path: Path, limit: dict[str, int]) -> None:
    async def scenario(dial: Dial) -> None:
        stalled = [await half_a_body(dial) for _ in range(2)]
        probe = await dial()
        assert (await probe.post(b"whole")).body == b"5", "complete requests are still answered"
        reply = await (await half_a_body(dial)).receive()
        assert (reply.status, reply.headers["retry-after"], reply.closes) == (429, "1", True)
        for client in stalled:
            client.writer.write(b"5678")
            assert (await client.receive()).body == b"8"
        late = await half_a_body(dial)
        assert (await probe.post(b"whole")).body == b"5"
        late.writer.write(b"5678")
        assert (await late.receive()).body == b"8"

    with serve(tmp_path, answer="stub_server:length", **limit) as server:
        run(server, scenario)


def test_a_body_that_stalls_is_408(tmp_path: Path) -> None:
    async def scenario(dial: Dial) -> None:
        reply = await (await half_a_body(dial)).receive()
        assert (reply.status, reply.closes) == (408, True)

    with serve(tmp_path, body_seconds=0.1) as server:
        run(server, scenario)


def test_clients_that_leave_mid_body_free_their_share(tmp_path: Path) -> None:
    async def scenario(dial: Dial) -> None:
        for _ in range(10):
            client = await half_a_body(dial)
            await client.close()
        client = await half_a_body(dial)
        assert (await (await dial()).post(b"x")).status == 200
        client.writer.write(b"5678")
        assert (await client.receive()).body == b"8"

    with serve(tmp_path, answer="stub_server:length", reading_requests=2) as server:
        run(server, scenario)


def test_idle_connections_are_closed_after_keepalive_and_silent_ones_are_not(
    tmp_path: Path,
) -> None:
    async def scenario(dial: Dial) -> None:
        silent, used = await dial(), await dial()
        assert (await used.post(REVIEW)).status == 200
        assert await used.reader.read() == b""
        assert (await silent.post(REVIEW)).status == 200

    with serve(tmp_path, keepalive=1) as server:
        run(server, scenario)
