"""HTTP/1.1 on asyncio: requests in, answers and streams out.

For: what `kubectl`, Go and Python clients send; one task per connection, one thread for all.
Not for: what requests mean, and not for the internet: it serves loopback only
(docs/decisions/0007).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LONGEST_HEAD: Final = 64 * 1024
LONGEST_BODY: Final = 3 * 1024 * 1024
"""The API server's own limit of a request body."""

# An admission webhook may refuse with a status that nobody has registered.
_PHRASES: Final = {one.value: one.phrase for one in HTTPStatus}
_MOST_UNREAD: Final = 16 * 1024 * 1024
"""A client that leaves more of a stream unread is cut off, as the API server does."""


@dataclass(slots=True)
class Request:
    """One request.

    Names of headers are in lower case, repeated ones joined by a comma; of repeated query
    parameters it is the last.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""


@dataclass(slots=True)
class Response:
    """An answer whose body is complete."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Stream:
    """An answer that goes on: `start` is handed the channel and returns what stops it."""

    start: Callable[[Channel], Callable[[], None]]
    content_type: str = "application/json"


class Channel:
    """The open end of a stream: write chunks, end it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []
        self.ended = asyncio.Event()

    def write(self, chunk: bytes) -> None:
        """Send a chunk without waiting, together with what else happens in this turn of the loop.

        To encrypt and send a chunk costs as much as to make it, ten at once hardly more.
        """
        if self.ended.is_set():
            return
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def _flush(self) -> None:
        """Send what waits; a client that reads too slowly is cut off."""
        if self.ended.is_set():
            return
        self._writer.write(b"".join(self._waiting))
        self._waiting.clear()
        if self._writer.transport.get_write_buffer_size() > _MOST_UNREAD:
            self.tear()

    def tear(self) -> None:
        """Break the connection off, whatever has been sent so far."""
        if not self.ended.is_set():
            self._writer.transport.abort()
            self.ended.set()

    def end(self) -> None:
        """End the stream as agreed."""
        self._flush()
        if not self.ended.is_set():
            self._writer.write(b"0\r\n\r\n")
            self.ended.set()


class _Refused(Exception):  # noqa: N818  not an error of ours
    """Something that is no request we read; the status that says so."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def serve_connection(
    app: Callable[[Request], Awaitable[Response | Stream]],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Answer the requests of one connection until either side closes it."""
    try:
        while (request := await _read(reader)) is not None:
            answer = await app(request)
            if isinstance(answer, Stream):
                await _stream(answer, reader, writer)
                break
            writer.write(_head(answer.status, answer.content_type, answer.headers, answer.body))
            await writer.drain()
            if request.headers.get("connection", "").lower() == "close":
                break
    except _Refused as refused:
        writer.write(_head(refused.status, "text/plain", {"Connection": "close"}, b""))
    except (OSError, asyncio.IncompleteReadError):
        pass  # the client went away: its right, at any moment
    except asyncio.CancelledError:
        # The server stops; a client that is slow to say goodbye in TLS must not hold it up. Not
        # raised again: nobody waits for this task, and asyncio would log it as a failure.
        writer.transport.abort()
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """Read the next request; None: the client closed the connection in good order."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise _Refused(431) from None
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    words = first.split(" ")
    if len(words) != 3:  # noqa: PLR2004  method, target, version
        raise _Refused(400)
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    path, _, query = words[1].partition("?")
    body = await _body(reader, headers)
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    return Request(words[0], unquote(path), pairs, headers, body)


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "transfer-encoding" in headers:
        raise _Refused(411)
    length = headers.get("content-length", "0")
    if not length.isdecimal():
        raise _Refused(400)
    if int(length) > LONGEST_BODY:
        raise _Refused(413)
    return await reader.readexactly(int(length))


def _head(status: int, content_type: str, headers: dict[str, str], body: bytes | None) -> bytes:
    """Write the head of an answer and its body; None: chunks will follow."""
    lines = [
        f"HTTP/1.1 {status} {_PHRASES.get(status, 'Unknown')}",
        f"Content-Type: {content_type}",
        "Transfer-Encoding: chunked" if body is None else f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (body or b"")


async def _stream(
    stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Keep a stream open until it ends or the client goes."""
    writer.write(_head(200, stream.content_type, {"Connection": "close"}, None))
    channel = Channel(writer)
    stop = stream.start(channel)
    gone = asyncio.ensure_future(reader.read(1))
    ended = asyncio.ensure_future(channel.ended.wait())
    try:
        await asyncio.wait((gone, ended), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop()
        for task in (gone, ended):
            task.cancel()
    await writer.drain()
