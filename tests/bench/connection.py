"""A keep-alive HTTPS connection that costs the load driver little.

Requests are rendered beforehand; of an answer only the status, its end and the uid are looked at.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Request:
    """A whole HTTP request and what its answer must contain."""

    data: bytes
    uid: bytes


def render(uid: str, body: bytes) -> Request:
    """Return the POST that the API server would make of a body."""
    head = (
        "POST /mutate?timeout=3s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: kube-apiserver\r\n"
        f"Content-Length: {len(body)}\r\nAccept: application/json, */*\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    return Request(head.encode() + body, uid.encode())


def answer_end(data: bytes) -> int:
    """Return where the answer at the start of `data` ends, -1 if not all of it is there.

    Raises ValueError if the end cannot be told.
    """
    head = data.find(b"\r\n\r\n") + 4
    if head < 4:
        return -1
    if length := _LENGTH.search(data, 0, head):
        end = head + int(length[1])
        return end if len(data) >= end else -1
    if _CHUNKED.search(data, 0, head):
        last = data.find(_LAST_CHUNK, head - 2)  # the head's own line end counts as the first
        return -1 if last < 0 else last + len(_LAST_CHUNK)
    raise ValueError(f"an answer without length: {data[:head]!r}")


class Connection(asyncio.Protocol):
    """One connection; one request at a time.

    `done(connection, trouble)` is called for every answer and when the server ends the
    connection: `trouble` is empty after a right answer, else it says what was wrong.
    """

    def __init__(self, done: "Done") -> None:
        self.alive = False
        self.sent_at = 0.0
        """When the request that waits was due, by time.perf_counter(), in seconds."""
        self._done = done
        self.waiting: Request | None = None
        """The request without an answer so far; still set when the connection ends over it."""
        self._data = b""
        self._trouble = ""
        self._transport: asyncio.Transport

    def send(self, request: Request, at: float) -> None:
        """Send a request that was due `at` (time.perf_counter())."""
        self.waiting, self.sent_at, self._data = request, at, b""
        self._transport.write(request.data)

    def close(self) -> None:
        """Close without telling anybody."""
        self.alive, self._done = False, lambda *_: None
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's own class does not derive from asyncio.Transport, it only behaves so
        self._transport, self.alive = cast("asyncio.Transport", transport), True

    def data_received(self, data: bytes) -> None:
        self._data = self._data + data if self._data else data
        request = self.waiting
        if request is None:
            return
        try:
            end = answer_end(self._data)
        except ValueError as error:
            self._trouble = str(error)
            self._transport.abort()
            return
        if end < 0:
            return
        trouble = ""
        if not self._data.startswith(b"HTTP/1.1 200"):
            trouble = f"answered with {self._data[:12].decode(errors='replace')}"
        elif request.uid not in self._data:
            trouble = "an answer with the uid of another request"
        self.waiting = None
        self._done(self, trouble)

    def connection_lost(self, exc: Exception | None) -> None:
        self.alive = False
        self._done(self, self._trouble or f"connection closed by the server: {exc or 'orderly'}")


Done = Callable[[Connection, str], None]


async def dial(port: int, context: ssl.SSLContext, done: Done) -> Connection:
    """Open a connection, TLS handshake included. Raises OSError (TimeoutError is one)."""
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(done),
        "127.0.0.1",
        port,
        ssl=context,
        server_hostname="127.0.0.1",
        ssl_handshake_timeout=10,
    )
    return connection
