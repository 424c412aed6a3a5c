"""A stand-in for an API server: says a large cluster from patterns, as fast as bytes can be sent.

A process of its own (`python -m tests.bench.scale.recorded`): lists in pages, watches whose events
come when the bench asks for them, and answers to the controller's writes. Not for: being right
about anything else; the pocket cluster is, and could not hold as many objects.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import ssl
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import uvloop

from .crowded import Crowd
from .lives import Lives, Sent, event
from .pattern import Object
from .tables import PODS, page, table_of, tables

_HEAD_BYTES = 64 * 1024
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Request:
    """One request, as far as anybody looks at it."""

    verb: str
    path: str
    query: dict[str, str]
    accept: str
    body: bytes


@dataclass
class Seen:
    """What the server was asked for."""

    requests: Counter[str] = field(default_factory=Counter)
    bytes_sent: int = 0
    patched_at: list[float] = field(default_factory=list)
    """When pods were patched, by the clock of the loop, in seconds."""


class Recorded:
    """Answers requests; all of it in one loop."""

    def __init__(self, crowd: Crowd, secret: dict[str, bytes]) -> None:
        self._crowd, self._tables, self._lives = crowd, tables(crowd), Lives(crowd)
        data = {key: base64.b64encode(value).decode() for key, value in secret.items()}
        self._secret = json.dumps({"metadata": {"uid": "secret"}, "data": data}).encode()
        self._events = self._lives.stream()
        self._watchers: dict[str, set[asyncio.StreamWriter]] = {}
        self._held: dict[str, bytes] = {}
        self._leases: dict[str, Object] = {}
        self._written: set[str] = set()
        self._changed = asyncio.Condition()
        self.seen = Seen()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until its client closes it."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            while True:
                request = await _read(reader)
                await self._serve(request, reader, writer)
        writer.close()

    async def _serve(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.path.startswith("/bench/"):
            await self._control(request, writer)
            return
        table = table_of(request.path, request.query, request.accept)
        if table and "watch" in request.query:
            self.seen.requests[f"WATCH {table}"] += 1
            await self._watch(table, reader, writer)
            return
        if table and request.verb == "GET":
            self.seen.requests[f"LIST {table}"] += 1
            start, limit = (int(request.query.get(name, 0)) for name in ("continue", "limit"))
            await self._answer(writer, 200, page(self._tables[table], start, limit))
            return
        await self._single(request, writer)

    async def _watch(
        self, table: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        watchers = self._watchers.setdefault(table, set())
        watchers.add(writer)
        try:
            # Nothing more is asked over it; this ends with the connection.
            await reader.readexactly(1)
        finally:
            watchers.discard(writer)

    async def _send(self, sent: list[Sent]) -> None:
        for table, line in sent:
            for writer in tuple(self._watchers.get(table, ())):
                writer.write(b"%x\r\n%s\r\n" % (len(line), line))
                with contextlib.suppress(ConnectionError):
                    await writer.drain()

    async def _single(self, request: Request, writer: asyncio.StreamWriter) -> None:
        """Answer what is about one object."""
        parts = request.path.strip("/").split("/")
        kinds = ("pods", "nodes", "leases", "events", "secrets")
        kind = next((p for p in kinds if p in parts), parts[-1])
        self.seen.requests[f"{request.verb} {kind}"] += 1
        if kind == "leases":
            await self._lease(request, writer)
        elif kind == "secrets":
            await self._answer(writer, 200, self._secret)
        elif kind == "pods":
            await self._pod(request, f"{parts[3]}/{parts[-1]}", writer)
        elif request.verb == "GET":
            await self._answer(writer, 404, b'{"kind":"Status","code":404}')
        else:
            if kind == "nodes":
                await self._note(parts[-1])
            await self._answer(writer, 200, request.body)

    async def _pod(self, request: Request, key: str, writer: asyncio.StreamWriter) -> None:
        number = int(key.rpartition("-")[2])
        found = self._held.get(key) or self._crowd.pod(number, self._lives.version())
        if request.verb == "PATCH" and key in self._held:
            self.seen.patched_at.append(asyncio.get_running_loop().time())
            found = self._crowd.pod(number, self._lives.version(), "released")
            del self._held[key]
            await self._answer(writer, 200, found)
            await self._send([(PODS, event(b"MODIFIED", found))])
            await self._send([(PODS, event(b"DELETED", found))])
            await self._note(key)
            return
        await self._answer(writer, 200, found)

    async def _lease(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.verb == "POST":
            made = json.loads(request.body)
            self._leases[f"{request.path}/{made['metadata']['name']}"] = made
        else:
            found = self._leases.get(request.path)
            if found is None:
                await self._answer(writer, 404, b'{"kind":"Status","code":404}')
                return
            made = found
            if request.verb == "PATCH":
                made["spec"] |= json.loads(request.body).get("spec", {})
        made["metadata"] |= {"uid": "lease", "resourceVersion": str(self._lives.version())}
        await self._answer(writer, 200, json.dumps(made).encode())

    async def _control(self, request: Request, writer: asyncio.StreamWriter) -> None:
        count = int(request.query.get("count", 0))
        answer: Object = {}
        match request.path:
            case "/bench/stream":
                answer = await self._stream(count, float(request.query["rate"]))
            case "/bench/hold":
                answer = await self._hold(count)
            case "/bench/stats":
                answer = {"requests": self.seen.requests, "bytes": self.seen.bytes_sent}
            case "/bench/forget":
                # The next controller need not wait for the Lease of one that has ended.
                self._leases.clear()
        await self._answer(writer, 200, json.dumps(answer).encode())

    async def _stream(self, count: int, rate: float) -> Object:
        """Send events, so many a second; returns when the controller has handled all of them."""
        loop = asyncio.get_running_loop()
        made = list(islice(self._events, count))  # before: who sends must be quicker than who reads
        began, size = loop.time(), 0
        for number, sent in enumerate(made):
            if (early := began + number / rate - loop.time()) > 0:
                await asyncio.sleep(early)
            size += len(sent[0][1])
            await self._send(sent)
        seconds = loop.time() - began
        # Who writes what the last event of each kind asks for has handled those before it.
        await self._held_pods(1)
        name, sent = self._lives.new_node()
        await self._send(sent)
        await self._until({name})
        return {"seconds": seconds, "bytes": size}

    async def _hold(self, count: int) -> Object:
        """Have pods that were held for too long; returns when each was let go, in seconds."""
        self.seen.patched_at.clear()
        await self._held_pods(count)
        return {"patched_at": self.seen.patched_at}

    async def _held_pods(self, count: int) -> None:
        keys = set()
        for _ in range(count):
            key, sent = self._lives.held()
            self._held[key] = sent[0][1].partition(b'"object":')[2][:-2]
            keys.add(key)
            await self._send(sent)
        await self._until(keys)

    async def _until(self, written: set[str]) -> None:
        async with asyncio.timeout(_PATIENCE_SECONDS), self._changed:
            await self._changed.wait_for(lambda: written <= self._written)
            self._written -= written

    async def _note(self, written: str) -> None:
        async with self._changed:
            self._written.add(written)
            self._changed.notify_all()

    async def _answer(self, writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
        head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % (status, len(body)))
        writer.write(body)
        self.seen.bytes_sent += len(body)
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request:
    """Read one request. Raises IncompleteReadError at the end of the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    verb, target, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    return Request(verb, url.path, dict(parse_qsl(url.query)), headers.get("accept", ""), body)


async def _run(given: argparse.Namespace) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(given.certificate, given.key)
    # The webhook serves what this server does: their clients then trust both.
    secret = {"tls.crt": given.certificate.read_bytes(), "tls.key": given.key.read_bytes()}
    recorded = Recorded(Crowd(given.nodes, given.pods, given.rejected), secret)
    server = await asyncio.start_server(
        recorded.connected, "127.0.0.1", given.port, ssl=context, limit=_HEAD_BYTES
    )
    async with server:
        await server.serve_forever()


def main() -> None:
    """Serve until a signal."""
    parser = argparse.ArgumentParser()
    for name in ("--nodes", "--pods", "--rejected", "--port"):
        parser.add_argument(name, type=int, required=True)
    for name in ("--certificate", "--key"):
        parser.add_argument(name, type=Path, required=True)
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
