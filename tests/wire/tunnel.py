"""A proxy that does CONNECT and nothing else, over TLS if asked to."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import ssl


class Tunnel:
    """A running proxy; `asked` says to where, once for each connection."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[str] = []
        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if tls is not None:
            self._httpd.socket = tls.wrap_socket(self._httpd.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._httpd.server_address[1]}"
        self._thread = threading.Thread(
            target=self._httpd.serve_forever, kwargs={"poll_interval": 0.01}
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()


def _handler(tunnel: Tunnel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            tunnel.asked.append(self.path)
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port))) as far:
                self.send_response(200)
                self.end_headers()
                _carry(self.connection, far)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _carry(near: socket.socket, far: socket.socket) -> None:
    """Carry bytes both ways until one side has no more."""
    other = {near: far, far: near}
    with contextlib.suppress(OSError):
        while True:
            for ready in select.select(list(other), [], [])[0]:
                some = ready.recv(1 << 16)
                if not some:
                    return
                other[ready].sendall(some)
