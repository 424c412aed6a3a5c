"""An answer of the API server whose body is still on the wire.

For: reading it whole (a list) or as it comes (a watch), with our own errors, and ending it from
another thread.
Not for: understanding it; that is `decoding`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from evencore.kube import errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from urllib3 import BaseHTTPResponse

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes without a newline that are no watch event: etcd refuses objects over some 1.5 MB."""

_READ_SIZE = 64 * 1024


class Reply:
    """One 2xx answer. One thread reads and closes it; any thread may `abort` it."""

    def __init__(self, call: errors.Call, raw: BaseHTTPResponse) -> None:
        self.call = call
        self._raw = raw

    def read(self) -> bytes:
        """Read the whole body. Raises Unavailable if it breaks off or is aborted."""
        # OverflowError: a length of more than 64 bits.
        try:
            return self._raw.read()
        except (HTTPError, OSError, ValueError, OverflowError) as error:
            raise errors.from_exception(self.call, error) from error

    def lines(self) -> Iterator[bytes]:
        """Yield the body's lines as they come; ends if the server ended the body properly.

        Raises Unavailable if the stream is cut, silent for longer than the read timeout, or
        aborted. What follows the last newline is no line: it was cut before its end.
        """
        try:
            yield from split_lines(self._chunks())
        except (HTTPError, OSError) as error:
            raise errors.from_exception(self.call, error) from error
        except (ValueError, OverflowError) as error:
            # A line without an end, a length that is none, or a TLS socket that was aborted between
            # two reads.
            said = errors.shortened(str(error))
            raise errors.Unavailable(
                f"{self.call} cannot be read on: {said}: {errors.Unavailable.advice}"
            ) from error

    def _chunks(self) -> Iterator[bytes]:
        if self._raw.chunked:
            # The API server sends each event as one chunk, so this is one read per event.
            yield from self._raw.read_chunked()
            return
        while chunk := self._raw.read1(_READ_SIZE):
            yield chunk

    def abort(self) -> None:
        """End the body from another thread: a read that waits there returns at once."""
        # It may be read to its end, closed, or not be a socket any more: then there is no need.
        with contextlib.suppress(HTTPError, OSError, ValueError, RuntimeError):
            self._raw.shutdown()

    def close(self) -> None:
        """Give the connection back if the body was read to its end, close it if not."""
        self._raw.close()


def split_lines(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield the non-empty lines of a body that comes in arbitrary chunks.

    Raises ValueError for a line of more than `longest` bytes. Costs the same per byte whether a
    line comes in one chunk or in a thousand.
    """
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.find(b"\n")
        if end < 0:
            parts.append(chunk)
            size += len(chunk)
            if size > longest:
                raise ValueError(f"no newline in {size} bytes")
            continue
        if end == len(chunk) - 1 and not parts and end > 0 and not chunk.isspace():
            yield chunk[:-1]  # nearly always: an event is a chunk, and not looked at once more
            continue
        whole = b"".join((*parts, chunk)) if parts else chunk
        *lines, rest = whole.split(b"\n")
        parts, size = ([rest], len(rest)) if rest else ([], 0)
        for line in lines:
            if line and not line.isspace():
                yield line
