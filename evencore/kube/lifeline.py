"""Ends whatever a reflector waits for when it is told to stop.

For: a thread that is blocked in a silent watch and has to be gone within a second.
Not for: a request whose answer has not begun: it ends with its read timeout, so threads that make
requests are daemons and nobody waits for them for long.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evencore.kube.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.kube.reply import Reply


class Lifeline:
    """Holds the reply that is open now, and aborts it when `stop` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._lock = threading.Lock()
        self._open: Reply | None = None

    def start(self, name: str) -> None:
        """Start the thread that waits for the stop; it ends with it.

        A thread, because a socket has no way to wait for an Event, and reading in short slices is
        not possible: a buffered reader is unusable after its first timeout.
        """
        threading.Thread(target=self._wait, name=name, daemon=True).start()

    def _wait(self) -> None:
        self._stop.wait()
        with self._lock:
            if self._open is not None:
                self._open.abort()

    @contextmanager
    def holding(self, reply: Reply) -> Iterator[None]:
        """Have `reply` aborted if the stop comes within the block; closes it afterwards.

        Raises Unavailable if the stop has come before: an answer that was waited for too long
        must not change anything any more.
        """
        with self._lock:
            self._open = reply
        try:
            if self._stop.is_set():
                raise Unavailable(f"{reply.call} was answered after the stop")
            yield
        finally:
            with self._lock:
                self._open = None
            reply.close()
