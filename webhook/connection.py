"""One HTTP connection as gunicorn's asgi worker serves it, with a short way for admissions.

It reaches into gunicorn's protocol, of which no documentation promises anything: gunicorn is pinned
to one minor version for that, and tests/webhook shows whether each of these reaches still works.

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


class Connection(ASGIProtocol):  # type: ignore[misc] # gunicorn has no types
    """One connection as gunicorn serves it, and what a drain must know of it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to count it."""
        super().connection_made(transport)
        self.worker.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more, once the call that was being served has ended too."""
        super().connection_lost(exc)
        self._request_ready.set()  # an idle one ends now; gunicorn lets it wait for 3 s more
        # Flask's thread may still be busy with a call, and needs the event loop to finish.
        self._task.add_done_callback(lambda _: self.worker.connections.discard(self))

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
        receiver = self._body_receiver
        if request.path == MUTATE and request.method == "POST" and receiver._complete:  # noqa: SLF001 - see the top
            # Nearly every call: all of it is here already, so ASGI's messages would carry nothing
            # but their own cost, which is a tenth of the whole.
            whole = self.app.at_once(b"".join(receiver._chunks))  # noqa: SLF001 - see the top
            if whole is not None:
                return await self._send_whole(request, *whole)
        # gunicorn starts a task per request, for applications that work on after their answer.
        # Ours does not, and the task is a tenth of what HTTP costs us.
        return bool(await self._handle_http_request(request, sockname, peername))

    async def _send_whole(self, request: Any, status: int, answer: bytes) -> bool:  # noqa: ANN401 - gunicorn's own
        """Write an answer in one piece; returns whether the connection stays open."""
        close = self._will_close(request, response_requires_close=False)
        head = b"%sContent-Type: application/json\r\nContent-Length: %d\r\n%s%s\r\n" % (
            _get_cached_status_line(request.version, status),
            len(answer),
            _get_cached_date_header(),
            b"Connection: close\r\n" if close else b"",
        )
        self._safe_write(head + answer)
        await self._flow_control.drain()
        return not close

    def close_if_idle(self) -> None:
        """Close unless a request is being served or has arrived and waits to be read."""
        if self._awaiting_request and not _unread_bytes(self.transport):
            self.transport.close()


def _unread_bytes(transport: asyncio.BaseTransport) -> int:
    """How many bytes the kernel holds that we have not read yet."""
    sock = transport.get_extra_info("socket")
    if sock is None or sock.fileno() == -1:
        return 0
    answer = fcntl.ioctl(sock.fileno(), termios.FIONREAD, b"\0\0\0\0")
    return int.from_bytes(answer, "little")
