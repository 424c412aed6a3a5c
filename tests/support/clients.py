"""HTTP/1.1 clients over asyncio for tests: one connection, and a pool that dials as Go's does."""

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from certificates import HOST


class LostCallError(Exception):
    """The connection ended before the whole answer had come."""


@dataclass(frozen=True)
class Reply:
    """An answer; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        """Whether the server announced the end of the connection."""
        return self.headers.get("connection", "").lower() == "close"


class Client:
    """One connection. Use as an asynchronous context manager, or `close` it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def dial(cls, port: int, context: ssl.SSLContext, name: str | None = HOST) -> Self:
        """Connect and finish the handshake. `name` is the SNI, None for none."""
        return cls(
            *await asyncio.open_connection(
                "127.0.0.1", port, ssl=context, server_hostname=name or ""
            )
        )

    @property
    def serial(self) -> str:
        """Serial number of the server's certificate."""
        certificate = self.writer.get_extra_info("ssl_object").getpeercert()
        return str(certificate["serialNumber"])

    def send(self, method: str, path: str, body: bytes = b"", *headers: str) -> None:
        """Write a whole request without waiting for anything."""
        head = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", *headers]
        if body:
            head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self.writer.write("\r\n".join([*head, "", ""]).encode() + body)

    async def receive(self) -> Reply:
        """Read one answer."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status, *lines = head.rstrip().split("\r\n")
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.lower(): value.strip() for name, value in pairs}
            if headers.get("transfer-encoding") == "chunked":
                body = await self._chunks()
            else:
                body = await self.reader.readexactly(int(headers["content-length"]))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise LostCallError(repr(error)) from error
        return Reply(int(status.split()[1]), headers, body)

    async def post(self, body: bytes, path: str = "/mutate?timeout=10s") -> Reply:
        """Do one admission call."""
        self.send("POST", path, body)
        return await self.receive()

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return body

    async def close(self) -> None:
        """Close, whatever state the connection is in."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class GoTransport:
    """Dials as Go's http.Transport does.

    A caller that finds no idle connection starts a dial and waits for whatever is free first: that
    connection, or another caller's. Its own may then stay silent for ever, with TLS finished.
    At most `keep` idle connections are kept, 25 in the API server.
    """

    def __init__(self, port: int, context: ssl.SSLContext, keep: int = 25) -> None:
        self._port = port
        self._keep = keep
        self._context = context
        self._idle: list[Client] = []
        self._waiting: deque[asyncio.Future[Client]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[Client] = set()
        self.dialled = 0

    async def post(self, body: bytes) -> Reply:
        """Do one admission call on whichever connection is free first."""
        client = await self._get()
        reply = await client.post(body)
        if reply.closes:
            self._open.discard(client)
            await client.close()
        else:
            self._put(client)
        return reply

    async def close(self) -> None:
        """Wait for the dials that nobody waits for any more, and close every connection."""
        await asyncio.gather(*self._tasks)
        await asyncio.gather(*(client.close() for client in self._open))

    async def _get(self) -> Client:
        while self._idle:
            client = self._idle.pop()
            if not client.reader.at_eof():
                return client
        waiter: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._start(self._dial(waiter))
        return await waiter

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _dial(self, waiter: asyncio.Future[Client]) -> None:
        try:
            client = await Client.dial(self._port, self._context)
        except OSError as error:
            if not waiter.done():
                waiter.set_exception(error)
            return
        self.dialled += 1
        self._open.add(client)
        self._put(client)

    def _put(self, client: Client) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(client)
                return
        if len(self._idle) < self._keep:
            self._idle.append(client)
        else:
            self._open.discard(client)
            self._start(client.close())
