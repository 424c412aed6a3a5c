"""gunicorn's asgi worker, with a stop that loses no call.

At SIGTERM readiness fails at once, and for `drain_seconds` everything is served as before: the
endpoint's removal reaches the API servers only after seconds. Then no new connections are taken,
each answer says `Connection: close`, and what is left idle is closed after `closing_seconds`.
Further SIGTERMs change nothing; SIGINT and SIGQUIT end it soon.

Not for: settings (webhook.gunicorn_conf), connections (webhook.connection) and requests
(webhook.asgi).
"""

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Any, Protocol

from gunicorn.arbiter import Arbiter
from gunicorn.sock import ssl_context
from gunicorn.workers.gasgi import ASGIWorker

from webhook.connection import Connection
from webhook.heads import Heads
from webhook.listener import Listener

if TYPE_CHECKING:
    import ssl

# Seconds between two signs of life to the master, which kills a worker that gives none.
HEARTBEAT_SECONDS = 1.0

# Seconds between two looks whether all connections have gone.
LOOK_SECONDS = 0.1

# Seconds that requests still unfinished after `closing_seconds` get to finish.
LAST_SECONDS = 1.0

# Go clients give up a handshake after 10 s as well. asyncio's own limit is a minute.
HANDSHAKE_SECONDS = 10.0

# How long a closed connection waits for its client to say goodbye. asyncio's limit is 30 s.
GOODBYE_SECONDS = 2.0


class Host(Protocol):
    """What the worker asks of the gunicorn application that runs it (webhook.gunicorn_conf)."""

    drain_seconds: float
    closing_seconds: float
    certificate_poll_seconds: float

    def serving(self) -> None:
        """Begin what may come later: connections are accepted. Called once, must not block."""

    def draining(self) -> None:
        """SIGTERM came: fail readiness. Called once, must not block or raise."""

    def stopped(self) -> None:
        """End background work: the last connection is closed."""

    def refresh_certificate(self) -> None:
        """Look whether the certificate changed. Must not raise."""


class DrainingWorker(ASGIWorker):  # type: ignore[misc] # gunicorn has no types
    """The worker class for gunicorn. Its application must be a `Host`."""

    app: Host
    loop: asyncio.AbstractEventLoop

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - handed on to gunicorn
        super().__init__(*args, **kwargs)
        self.connections: set[Connection] = set()
        self.heads = Heads()
        self.closing = False
        self._opening: set[asyncio.Task[None]] = set()
        self._listeners: list[Listener] = []
        self._stop = asyncio.Event()
        self._quit = asyncio.Event()
        self._tls: ssl.SSLContext | None = None

    def handle_exit_signal(self) -> None:
        """Begin to stop (SIGTERM)."""
        if not self._stop.is_set():
            self.app.draining()
            self._stop.set()

    def handle_quit_signal(self) -> None:
        """Stop without a drain (SIGINT, SIGQUIT); cuts a drain short."""
        super().handle_quit_signal()
        self._quit.set()
        self.handle_exit_signal()

    async def _serve(self) -> None:
        """Serve until a signal, then stop. gunicorn's `run` calls it, and cleans up after it."""
        try:
            self._listen()
        except Exception as error:
            # gunicorn would serve plain HTTP where TLS was meant, or start workers for ever.
            self.log.exception("cannot serve")
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from error
        self.app.serving()
        background = [
            self.loop.create_task(self._beat()),
            self.loop.create_task(self._watch_certificate()),
        ]
        await self._stop.wait()
        await self._drain()
        self.app.stopped()
        for task in background:
            task.cancel()

    def _listen(self) -> None:
        if self.cfg.is_ssl:
            self._tls = ssl_context(self.cfg)
        for sock in self.sockets:
            listener = Listener(self.loop, sock.sock, self._open)
            listener.start()
            self._listeners.append(listener)
            self.log.info("serving on %s", sock)

    async def _drain(self) -> None:
        self.log.info("stopping: serving on for %g seconds", self.app.drain_seconds)
        await self._quit_within(self.app.drain_seconds)

        self.closing = True
        for listener in self._listeners:
            listener.close()
        self.log.info("stopping: no new connections, %d left", len(self.connections))
        end = self.loop.time() + self.app.closing_seconds
        while self._busy(end):
            await self._quit_within(LOOK_SECONDS)

        # A client that finds an idle connection closed has lost a call if it was just using it:
        # so this comes last, when every connection in use has been given up with an answer.
        end += LAST_SECONDS
        while self._busy(end):
            for connection in tuple(self.connections):
                connection.close_if_idle()
            await self._quit_within(LOOK_SECONDS)
        if self.connections:
            self.log.warning("stopping: %d connections are cut off", len(self.connections))
        for connection in tuple(self.connections):
            connection.transport.abort()

    def _busy(self, end: float) -> bool:
        """Whether there is something to wait for, and time until `end` on the loop's clock."""
        left = bool(self.connections or self._opening)
        return left and self.loop.time() < end and not self._quit.is_set()

    async def _quit_within(self, seconds: float) -> None:
        """Wait, but not when a quick stop is asked for."""
        try:
            async with asyncio.timeout(seconds):
                await self._quit.wait()
        except TimeoutError:
            return

    async def _beat(self) -> None:
        # Goes on while draining: the master may still be watching.
        while True:
            self.notify()
            if self.ppid != os.getppid():
                self.log.error("the master process is gone: stopping")
                self.handle_exit_signal()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _watch_certificate(self) -> None:
        while self._tls is not None:
            await asyncio.sleep(self.app.certificate_poll_seconds)
            self.app.refresh_certificate()

    def _open(self, sock: socket.socket) -> None:
        task = self.loop.create_task(self._handshake(sock))
        self._opening.add(task)  # the loop keeps weak references only
        task.add_done_callback(self._opening.discard)

    async def _handshake(self, sock: socket.socket) -> None:
        try:
            if self._tls is None:
                await self.loop.connect_accepted_socket(lambda: Connection(self), sock)
            else:
                await self.loop.connect_accepted_socket(
                    lambda: Connection(self),
                    sock,
                    ssl=self._tls,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS,
                    ssl_shutdown_timeout=GOODBYE_SECONDS,
                )
        except OSError as error:  # includes TLS errors and time-outs: the client's doing
            self.log.debug("a connection was not set up: %s", error)
