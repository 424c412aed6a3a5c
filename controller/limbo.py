"""Pods that were let go and are out of sight: nobody knows yet what became of them.

Running and failed pods come by two watches. A pod that its kubelet rejects may leave the first
before it is seen in the second, and a StatefulSet's is deleted before its Event has come. Until
then it would seem as if no pod were on its way and none rejected: time for the next one.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

LIMBO_S: Final = 3.0
"""After so long it was just deleted."""


class _Lost(NamedTuple):
    key: str
    until: float


class Limbo:
    """Uids of such pods. All methods may be called by any thread.

    A uid goes with its namespace: who may write Events in one could else tell of another's pods.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._lost: dict[tuple[str, str], _Lost] = {}  # in the order in which their time runs out
        self._number: Counter[str] = Counter()

    def put(self, key: str, namespace: str, uid: str) -> None:
        """Note that a pod of this owner is out of sight."""
        pod = (namespace, uid)
        with self._lock:
            self._found(pod)
            self._lost[pod] = _Lost(key, self._now() + LIMBO_S)
            self._number[key] += 1

    def found(self, namespace: str, uid: str) -> None:
        """Note that it is known what became of a pod."""
        with self._lock:
            self._found((namespace, uid))

    def of(self, key: str) -> int:
        """Count the pods of one owner that are out of sight."""
        now = self._now()
        with self._lock:
            while self._lost and self._lost[first := next(iter(self._lost))].until <= now:
                self._found(first)
            return self._number.get(key, 0)

    def _found(self, pod: tuple[str, str]) -> None:
        lost = self._lost.pop(pod, None)
        if lost is not None:
            self._number[lost.key] -= 1
            if not self._number[lost.key]:
                del self._number[lost.key]
