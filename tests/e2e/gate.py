"""A way to the API server that can be shut: for us it is away, and the cluster goes on without us.

Bytes are handed on as they are, so that TLS is from end to end.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from urllib.parse import urlsplit

_CHUNK = 64 * 1024


class Gate:
    """Listens on loopback; `open` from the start."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        self.host = parts.hostname or "127.0.0.1"
        self._port = parts.port or 443
        self.address = ""
        self._open = True
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gate", daemon=True)
        listening = threading.Event()
        self._listening = listening
        self._thread.start()
        listening.wait()

    def shut(self) -> None:
        """Cut all connections, and hang up on new ones."""
        self._loop.call_soon_threadsafe(self._shut)

    def open(self) -> None:
        """Let everybody through again."""
        self._open = True

    def close(self) -> None:
        """End it."""
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _shut(self) -> None:
        self._open = False
        for writer in self._writers:
            writer.transport.abort()

    def _run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        host, port = server.sockets[0].getsockname()
        self.address = f"https://{host}:{port}"
        self._listening.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection(self.host, self._port)
            both = {writer, back}
            self._writers |= both
            try:
                await asyncio.gather(_hand_on(reader, back), _hand_on(there, writer))
            finally:
                self._writers -= both
                for one in both:
                    one.transport.abort()


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
