"""The controller process: what starts and stops in which order, and who works on what.

Order of start: watch; when the view is complete, contend for the lease; when elected, work. Order
of stop: work, then the lease (so that the next one takes over at once), then the watches. A leader
that loses its lease ends the process: a view that was led by somebody else meanwhile starts afresh.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from controller.handlers import BARE, NODE, OWNER, PLACED, ROOM
from controller.reporter import REPORT
from evencore import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.queue import Key, Queue
    from evencore.kube.lease import Elector
    from evencore.kube.snapshots import LiveSnapshot

_log = logging.getLogger(__name__)

WORKS: Final = (OWNER, ROOM, PLACED, NODE, BARE, REPORT)
"""The kinds of work, as the metrics name them."""

SYNC_TURN_S: Final = 0.5
STOP_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a controller is made of."""

    view: LiveSnapshot
    queue: Queue
    elector: Elector
    reconcilers: Mapping[str, Callable[[str], float | None]]
    """Kind of work → its reconciler: about → seconds until it wants to look again."""


class Controller:
    """Runs in the caller's thread: `run` returns when it was stopped or lost its lease."""

    def __init__(
        self, parts: Parts, workers: int, stop: threading.Event, lost: threading.Event
    ) -> None:
        """`stop` ends `run`; `lost` tells why, if it was for the lease."""
        self._parts, self._workers = parts, workers
        self._stop, self._lost = stop, lost

    def stop(self) -> None:
        """End orderly; callable from a signal handler."""
        self._stop.set()

    def waiting(self) -> list[str]:
        """Say what keeps this process from being ready; empty: nothing."""
        missing = self._parts.view.missing()
        return [missing] if missing else []

    def run(self) -> bool:
        """Work until stopped; False: the lease was lost."""
        parts = self._parts
        metrics.QUEUED.set_function(lambda: len(parts.queue))
        metrics.LEADING.set_function(lambda: float(parts.elector.leads()))
        metrics.SYNCED.set_function(lambda: float(parts.view.missing() is None))
        parts.view.start()
        while (missing := parts.view.missing()) and not self._stop.wait(SYNC_TURN_S):
            _log.debug("%s", missing)
        end_election = threading.Event()
        election = threading.Thread(target=parts.elector.run, args=(end_election,), name="lease")
        workers = [
            threading.Thread(target=self._work, name=f"worker {n}", daemon=True)
            for n in range(self._workers)
        ]
        if not self._stop.is_set():
            _log.info("the view is complete; contending for the lease")
            election.start()
            while not parts.elector.elected.wait(SYNC_TURN_S) and not self._stop.is_set():
                pass
            for worker in workers:
                worker.start()
            self._stop.wait()
        parts.queue.stop()
        for worker in workers:
            if worker.ident is not None:
                worker.join(STOP_S)
        end_election.set()
        if election.ident is not None:
            election.join(STOP_S)
        parts.view.stop()
        return not self._lost.is_set()

    def _work(self) -> None:
        queue = self._parts.queue
        while (key := queue.get()) is not None:
            with metrics.RECONCILE_SECONDS.labels(key.work).time():
                self._one(key)

    def _one(self, key: Key) -> None:
        """Look at one key; a fault of ours costs this key some time, and nobody else."""
        queue = self._parts.queue
        try:
            again = self._parts.reconcilers[key.work](key.about)
        except Exception:  # noqa: BLE001  anything at all, and the worker must go on
            wait_s = queue.failed(key)
            metrics.RECONCILE_FAILURES.labels(key.work).inc()
            _log.exception("%s %s: a mistake of ours; again in %.1f s", key.work, key.about, wait_s)
            return
        queue.done(key)
        if again is not None:
            queue.add(key, again)
