"""One connection to a webhook: a request out, an answer in, HTTP/1.1.

For: what Go's net/http sends, and every framing that a server may answer with.
Not for: which connection is taken (`pool`), nor what an answer means.
"""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import ssl

_HANDSHAKE_S: Final = 10.0  # Go's TLSHandshakeTimeout
_LONGEST_HEAD: Final = 64 * 1024
_LONGEST_BODY: Final = 16 * 1024 * 1024
_NO_BODY: Final = (204, 304)


class BadAnswer(Exception):  # noqa: N818  a verdict on what came, in Go's words
    """Something that is no answer in HTTP."""


class Answer(NamedTuple):
    """What came back; names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """An open connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._kept = True

    @classmethod
    async def open(
        cls, host: str, port: int, context: ssl.SSLContext, server_name: str
    ) -> Connection:
        """Dial, and shake hands."""
        reader, writer = await asyncio.open_connection(
            host,
            port,
            ssl=context,
            server_hostname=server_name,
            ssl_handshake_timeout=_HANDSHAKE_S,
            limit=_LONGEST_HEAD,
        )
        return cls(reader, writer)

    @property
    def usable(self) -> bool:
        """Whether another request can be sent, as far as one can know."""
        gone = self._reader.at_eof() or self._reader.exception() is not None
        return self._kept and not gone and not self._writer.is_closing()

    async def ask(self, request: bytes) -> Answer:
        """Send a request and wait for its answer; one that fails ends the connection."""
        whole = False
        try:
            self._writer.write(request)
            answer = await self._read()
            whole = True
        except asyncio.IncompleteReadError as error:
            raise BadAnswer("unexpected EOF" if error.partial else "EOF") from error
        except (asyncio.LimitOverrunError, ValueError) as error:
            raise BadAnswer(f"malformed HTTP response: {error}") from error
        finally:
            self._kept = self._kept and whole
            if not self._kept:
                self.close()
        return answer

    def close(self) -> None:
        """Close it at once: a webhook that is slow to say goodbye holds up nobody."""
        self._writer.transport.abort()

    async def _read(self) -> Answer:
        status, headers = await self._read_head()
        while status < 200:  # noqa: PLR2004  1xx: the answer is still to come
            status, headers = await self._read_head()
        body = b"" if status in _NO_BODY else await self._read_body(headers)
        if headers.get("content-encoding", "").lower() == "gzip":
            try:
                body = gzip.decompress(body)
            except (OSError, EOFError) as error:
                raise BadAnswer(f"gzip: {error}") from error
        if headers.get("connection", "").lower() == "close":
            self._kept = False
        return Answer(status, headers, body)

    async def _read_head(self) -> tuple[int, dict[str, str]]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
            raise BadAnswer(f'malformed HTTP response "{first[:80]}"')
        self._kept = self._kept and version == "HTTP/1.1"
        pairs = (line.partition(":") for line in lines)
        return int(rest[:3]), {name.strip().lower(): value.strip() for name, _, value in pairs}

    async def _read_body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._read_chunks()
        if "content-length" in headers:
            return await self._reader.readexactly(_length(headers["content-length"], 10))
        self._kept = False
        return await self._reader.read(-1)

    async def _read_chunks(self) -> bytes:
        body = b""
        while size := _length((await self._reader.readline()).partition(b";")[0].decode(), 16):
            body += await self._reader.readexactly(size)
            await self._reader.readexactly(2)
            if len(body) > _LONGEST_BODY:
                raise BadAnswer(f"an answer of more than {_LONGEST_BODY} bytes")
        while (await self._reader.readline()).strip():
            pass  # trailers say nothing to us
        return body


def _length(text: str, base: int) -> int:
    length = int(text, base)
    if not 0 <= length <= _LONGEST_BODY:
        raise BadAnswer(f"an answer of {length} bytes")
    return length
