"""The controller process: what starts and stops in which order, and who works on what.

Order of start: watch; when the view is complete, contend for the lease; when elected, work. Order
of stop: work, then the lease (so that the next one takes over at once), then the watches. A leader
that loses its lease ends the process: a view that was led by somebody else meanwhile starts afresh.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evencore import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.queue import Key, Queue
    from evencore.kube.lease import Elector
    from evencore.kube.snapshots import LiveSnapshot

_log = logging.getLogger(__name__)

SYNC_TURN_S: Final = 0.5
STOP_S: Final = 5.0
"""How long all workers together may take to finish what they are at, and then the lease."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A queue, and how many threads work on it."""

    queue: Queue
    workers: int


@dataclass(frozen=True, slots=True)
class Parts:
    """What a controller is made of."""

    view: LiveSnapshot
    lanes: Sequence[Lane]
    elector: Elector
    lead: Callable[[], None]
    """Called once when we are elected, before anybody works."""
    reconcilers: Mapping[str, Callable[[str], float | None]]
    """Kind of work → its reconciler: about → seconds until it wants to look again."""


class Controller:
    """Runs in the caller's thread: `run` returns when it was stopped or lost its lease."""

    def __init__(self, parts: Parts, stop: threading.Event, lost: threading.Event) -> None:
        """`stop` ends `run`; `lost` tells why, if it was for the lease."""
        self._parts, self._stop, self._lost = parts, stop, lost

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
        metrics.QUEUED.set_function(lambda: sum(len(lane.queue) for lane in parts.lanes))
        metrics.LEADING.set_function(lambda: float(parts.elector.leads()))
        metrics.SYNCED.set_function(lambda: float(parts.view.missing() is None))
        parts.view.start()
        while (missing := parts.view.missing()) and not self._stop.wait(SYNC_TURN_S):
            _log.debug("%s", missing)
        if not self._stop.is_set():
            _log.info("the view is complete; contending for the lease")
            self._contend()
        parts.view.stop()
        return not self._lost.is_set()

    def _contend(self) -> None:
        """Work as soon as and as long as we lead."""
        elector, end = self._parts.elector, threading.Event()
        election = threading.Thread(target=elector.run, args=(end,), name="lease", daemon=True)
        election.start()
        while not elector.elected.wait(SYNC_TURN_S) and not self._stop.is_set():
            pass
        if not self._stop.is_set():
            self._lead()
        end.set()
        election.join(STOP_S)

    def _lead(self) -> None:
        parts = self._parts
        parts.lead()
        workers = [
            threading.Thread(target=self._work, args=(lane.queue,), daemon=True)
            for lane in parts.lanes
            for _ in range(lane.workers)
        ]
        for worker in workers:
            worker.start()
        self._stop.wait()
        for lane in parts.lanes:
            lane.queue.stop()
        deadline = time.monotonic() + STOP_S
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))

    def _work(self, queue: Queue) -> None:
        while (key := queue.get()) is not None:
            with metrics.RECONCILE_SECONDS.labels(key.work).time():
                self._one(queue, key)

    def _one(self, queue: Queue, key: Key) -> None:
        """Look at one key; a fault of ours costs this key some time, and nobody else."""
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
