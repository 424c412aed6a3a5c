"""One HTTP connection as gunicorn's asgi worker serves it, with a short way for admissions.

It reaches into gunicorn's protocol, of which no documentation promises anything: gunicorn is pinned
to one minor version for that, and tests/webhook shows whether each of these reaches still works.

The short way: an admission whose head is known (webhook.heads) is answered where its last byte
arrives. Everything else goes gunicorn's way: first calls, other paths, slow clients, large bodies,
whatever comes while the connection is not idle.

Not for: stopping (webhook.worker) and what is answered (webhook.asgi).
"""

import asyncio
import fcntl
import termios
from typing import Any

from gunicorn.asgi.protocol import (
    ASGIProtocol,
    _get_cached_date_header,
    _get_cached_status_line,
)

from webhook.asgi import MUTATE
from webhook.heads import Head, head_of

LARGEST_SHORT_BODY = 256 * 1024
"""Bytes. gunicorn holds as much of a connection before it stops reading."""

PARTS_SECONDS = 0.05
"""Within so long the parts of a body come in, or gunicorn and its limits take over."""

_HTTP_1_1 = (1, 1)


class Connection(ASGIProtocol):  # type: ignore[misc] # gunicorn has no types
    """One connection as gunicorn serves it, and what a drain must know of it."""

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 - gunicorn's signature
        super().__init__(worker)
        self._parts: list[bytes] = []  # of a request on the short way that is not complete
        self._wanted = 0  # bytes until it is
        self._hurry: asyncio.TimerHandle | None = None
        self._used = 0.0  # when the short way was last taken, on the loop's clock

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count it."""
        super().connection_made(transport)
        self.worker.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more, once the call that was being served has ended too."""
        self._all_parts()
        super().connection_lost(exc)
        self._request_ready.set()  # an idle one ends now; gunicorn lets it wait for 3 s more
        # Flask's thread may still be busy with a call, and needs the event loop to finish.
        self._task.add_done_callback(lambda _: self.worker.connections.discard(self))

    def data_received(self, data: bytes) -> None:
        """Answer an admission at once if all of it is here and its head is known."""
        if self._parts:
            self._parts.append(data)
            self._wanted -= len(data)
            if self._wanted > 0:
                return
            data = self._all_parts()
        elif not self._idle():
            super().data_received(data)
            return
        head = head_of(data)
        if head is None or head not in self.worker.heads:
            super().data_received(data)
            if head is not None and self._harmless(head):
                self.worker.heads.learn(head)
            return
        missing = head.size + head.body - len(data)
        if missing > 0 and head.body <= LARGEST_SHORT_BODY:
            self._parts.append(data)
            self._wanted = missing
            self._used = self.worker.loop.time()
            self._hurry = self.worker.loop.call_later(PARTS_SECONDS, self._give_up)
            return
        answer = self.app.at_once(data[head.size :]) if not missing else None
        if answer is None:
            super().data_received(data)
        else:
            self._send(*answer)

    def _idle(self) -> bool:
        """Whether gunicorn waits for a request of which it has seen nothing yet."""
        parser = self._callback_parser
        return (
            self._awaiting_request
            and parser._state == "request_line"  # noqa: SLF001 - see the top
            and not parser._buffer  # noqa: SLF001 - see the top
            and not self._flow_control.write_paused  # it waits until the client reads again
        )

    def _harmless(self, head: Head) -> bool:
        """Whether the head that gunicorn has just read is that of a plain admission."""
        request = self._current_request
        return bool(
            request is not None
            and request.path == MUTATE
            and request.method == "POST"
            and request.version == _HTTP_1_1
            and request.content_length == head.body
            and not request.chunked
            and not request._expect_100_continue  # noqa: SLF001 - see the top
            and not request.may_upgrade()
            and not request.should_close()
        )

    def _all_parts(self) -> bytes:
        """Take what has come, and stop waiting for the rest."""
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None
        data = b"".join(self._parts)
        self._parts.clear()
        return data

    def _give_up(self) -> None:
        super().data_received(self._all_parts())

    def _send(self, status: int, answer: bytes) -> None:
        """Write an answer in one piece, and remember that the connection was in use."""
        closing = self.worker.closing
        head = b"%sContent-Type: application/json\r\nContent-Length: %d\r\n%s%s\r\n" % (
            _get_cached_status_line(_HTTP_1_1, status),
            len(answer),
            _get_cached_date_header(),
            b"Connection: close\r\n" if closing else b"",
        )
        self._safe_write(head + answer)
        self._used = self.worker.loop.time()
        if closing:
            super()._keepalive_timeout()
        elif self._keepalive_handle is None:  # the first call: gunicorn does not know of it
            self._arm_keepalive_timer()

    def _keepalive_timeout(self) -> None:
        # gunicorn sets this timer when its own way ends, and cancels it when it begins.
        left = self._used + self._keepalive - self.worker.loop.time()
        if left > 0:
            self._keepalive_handle = self.worker.loop.call_later(left, self._keepalive_timeout)
        else:
            super()._keepalive_timeout()

    def _will_close(self, request: Any, response_requires_close: bool) -> bool:  # noqa: ANN401, FBT001 - gunicorn's signature
        # gunicorn decides here both what to announce and what to do. Its own way, `alive`, is read
        # once more after the answer, and would close connections that were promised to stay.
        return self.worker.closing or bool(super()._will_close(request, response_requires_close))

    def _handle_h1c_exception(self, error: Exception) -> bool:
        # Asked about what gunicorn's parser did not mean to raise.
        if isinstance(error, ValueError):  # a Content-Length of more digits than Python reads
            self._send_error_response(400, "Invalid Content-Length value")
            self._close_transport()
            return True
        return bool(super()._handle_h1c_exception(error))

    async def _serve_http_request(self, request: Any, sockname: Any, peername: Any) -> bool:  # noqa: ANN401 - gunicorn's signature
        # gunicorn starts a task per request, for applications that work on after their answer.
        # Ours does not, and the task is a tenth of what HTTP costs us.
        return bool(await self._handle_http_request(request, sockname, peername))

    def close_if_idle(self) -> None:
        """Close unless a request is being served or has arrived and waits to be read."""
        if self._awaiting_request and not self._parts and not _unread_bytes(self.transport):
            self.transport.close()


def _unread_bytes(transport: asyncio.BaseTransport) -> int:
    """How many bytes the kernel holds that we have not read yet."""
    sock = transport.get_extra_info("socket")
    if sock is None or sock.fileno() == -1:
        return 0
    answer = fcntl.ioctl(sock.fileno(), termios.FIONREAD, b"\0\0\0\0")
    return int.from_bytes(answer, "little")
