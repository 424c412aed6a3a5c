"""Accepts connections from one listening socket, and can stop without losing any.

asyncio's own servers cannot: what waits in the accept queue when they close is reset, and what was
accepted but not set up yet is dropped. Not for: TLS and HTTP; connections are handed on.
"""

import asyncio
import logging
import socket
from collections.abc import Callable

logger = logging.getLogger(__name__)

# Connections taken in one turn, so that a flood of them does not starve those that are served.
ACCEPTS_PER_TURN = 64

# Pause in seconds after the process ran out of file descriptors or memory.
RETRY_SECONDS = 0.5


class Listener:
    """Hands each accepted, non-blocking connection to `serve`, which must not raise."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        serve: Callable[[socket.socket], None],
    ) -> None:
        self._loop = loop
        self._socket = sock
        self._serve = serve
        self._retry: asyncio.TimerHandle | None = None
        self._closing = False

    def start(self) -> None:
        """Begin to accept. The socket is listening already."""
        # Accepted sockets inherit it: clients that vanished without a word are noticed in minutes.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._loop.add_reader(self._socket, self._accept, ACCEPTS_PER_TURN)

    def close(self) -> None:
        """Take what waits in the accept queue, then close at once. More calls change nothing."""
        if self._closing:
            return
        self._closing = True
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._socket)
        # No other code runs between the empty queue and the close.
        while self._accept(ACCEPTS_PER_TURN):
            pass
        self._socket.close()

    def _accept(self, most: int) -> bool:
        """Accept up to `most` connections; True if there may be more."""
        for _ in range(most):
            try:
                connection, _ = self._socket.accept()
            except ConnectionAbortedError:
                continue  # that client left before its turn
            except (BlockingIOError, InterruptedError):
                return False
            except OSError as error:
                self._pause(error)
                return False
            connection.setblocking(False)
            self._serve(connection)
        return True

    def _pause(self, error: OSError) -> None:
        # Out of file descriptors, mostly. The socket stays readable, so waiting for it would spin.
        logger.error("cannot accept connections for a moment: %s; raise `ulimit -n`", error)
        if self._closing:
            return
        self._loop.remove_reader(self._socket)
        self._retry = self._loop.call_later(RETRY_SECONDS, self.start)
