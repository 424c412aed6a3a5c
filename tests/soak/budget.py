"""How many rejections an owner may have: a bucket that fills slowly, and with each new reason.

Over any time no more are rejected than the bucket held and what came into it meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from soak.promises import Promises

AT_ONCE: Final = 32.0
"""Of one workload so many are rejected until the rest is held: it makes up to 20 pods in the same
moment, before anybody can know of the first, and those in their place that are made before a
webhook hears of it, within a tenth of a second. ..."""
A_MINUTE: Final = 1.0
"""... Then so many a minute, ..."""
A_ROOM: Final = 2.0
"""... and where room appears on a node so many more: who hopes may be wrong."""


@dataclass(slots=True)
class _Bucket:
    at: float
    left: float = AT_ONCE


class Budget:
    """The buckets of all workloads."""

    def __init__(self, promises: Promises, promise: str) -> None:
        self._promises, self._promise = promises, promise
        self._buckets: dict[str, _Bucket] = {}
        self._left_out: set[str] = set()

    def anew(self, app: str, now: float) -> None:
        """Fill a bucket: people want something else of a workload."""
        self._buckets[app] = _Bucket(now)

    def leave_out(self, app: str) -> None:
        """Let a workload loop: its author wants no pod of it to be held."""
        self._left_out.add(app)

    def room(self, now: float) -> None:
        """Take in that there is more room somewhere."""
        for bucket in self._buckets.values():
            _fill(bucket, now, A_ROOM)

    def spend(self, app: str, now: float) -> None:
        """Take in a rejection."""
        if app in self._left_out:
            return
        bucket = self._buckets.setdefault(app, _Bucket(now))
        _fill(bucket, now)
        bucket.left -= 1
        wrong = f"{-bucket.left:.1f} more of {app} than there may be"
        self._promises.within(self._promise, bucket.left, "pods", wrong)


def _fill(bucket: _Bucket, now: float, more: float = 0.0) -> None:
    passed = (now - bucket.at) * A_MINUTE / 60
    bucket.left, bucket.at = min(AT_ONCE, bucket.left + passed + more), now
