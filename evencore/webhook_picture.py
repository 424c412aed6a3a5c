"""The webhook's picture of the cluster, begun in a thread as soon as it serves.

What reads a cluster is imported there: with its first lists it would hold up a first answer by a
sixth of a start. Until then nothing is known, as before these lists have come.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from evencore.domain.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

_BEGINNING = "waiting for the first list of anything"


class Live(Protocol):
    """What follows a cluster; see `kube.snapshots.LiveSnapshot`."""

    def __call__(self) -> Snapshot:
        """Return the newest picture. Never waits."""

    def start(self) -> None:
        """Start watching and return at once."""

    def missing(self) -> str | None:
        """Say what has not been read yet."""

    def stop(self) -> None:
        """End all watches."""


class Picture:
    """What `make` makes, once it is made; each method may be called at any time."""

    def __init__(self, make: Callable[[], Live]) -> None:
        self._make = make
        self._nothing = Snapshot()
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._stopped = False
        self._missing = _BEGINNING

    def __call__(self) -> Snapshot:
        """Return the newest picture. Never waits."""
        live = self._live
        return self._nothing if live is None else live()

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._begin, name="picture", daemon=True).start()

    def missing(self) -> str | None:
        """Say what has not been read yet; None = the picture is complete."""
        live = self._live
        return self._missing if live is None else live.missing()

    def stop(self) -> None:
        """End all watches, and begin none."""
        with self._lock:
            self._stopped = True
            live = self._live
        if live is not None:
            live.stop()

    def _begin(self) -> None:
        try:
            live = self._make()
            with self._lock:
                if not self._stopped:
                    live.start()
                    self._live = live
        except Exception as error:  # noqa: BLE001  who is never ready is started again, and says why
            _log.exception("the cluster cannot be read: this is a bug")
            self._missing = f"reading the cluster failed: {type(error).__name__}"
