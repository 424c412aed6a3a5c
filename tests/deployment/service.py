"""A Service as clients meet it: connections go to a ready pod, and stay with it while it lives.

Its endpoints change late, as kube-proxies hear of them late. Bytes pass through unread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import Self

_CHUNK = 64 * 1024


class Service:
    """Enter it as a context within a loop; `port` is where to call it."""

    def __init__(self) -> None:
        self.port = 0
        self._endpoints: list[int] = []
        self._turn = itertools.count()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    def add(self, port: int) -> None:
        """Lead new connections there too."""
        self._endpoints.append(port)

    def remove(self, port: int) -> None:
        """Lead no new connections there; those that live go on."""
        self._endpoints.remove(port)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)  # the loop keeps weak references only
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = self._endpoints[next(self._turn) % len(self._endpoints)]
        both = [writer]
        # A pod that is gone hangs up, and so do we.
        with contextlib.suppress(OSError):
            try:
                there, back = await asyncio.open_connection("127.0.0.1", chosen)
                both.append(back)
                await asyncio.gather(_hand_on(reader, back), _hand_on(there, writer))
            finally:
                for one in both:
                    one.transport.abort()


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
