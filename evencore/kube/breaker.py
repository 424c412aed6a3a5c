"""When to leave a server alone that does not take our writes.

For: one small rule, pure: after a failure nothing is sent for a while, then one request alone
tries whether it is over. So however many workers and keys want to write, a failing loop is one
request in each wait, of which the shortest is half a second.
Not for: answers about the object (404, 409, 422): with those the server is well.

An answer to a request that was sent before the last failure came says nothing new: neither do ten
workers whose requests fail together count ten times, nor does the last good one hide the failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.kube.backoff import FIRST_S, LONGEST_RETRY_AFTER_S, Backoff

if TYPE_CHECKING:
    from collections.abc import Callable


class Breaker:
    """Lets everybody through until `failed`, then one at a time until `went_well`.

    All times are monotonic seconds. `random` returns a number in [0, 1). Not thread-safe.
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._backoff: Backoff | None = None  # None: all is well
        self._failed_at = float("-inf")
        self._again_at = float("-inf")
        self._trying = False

    def closed_for(self, now: float) -> float:
        """Seconds for which asking is of no use; 0 if `enter` would let through."""
        if self._backoff is None:
            return 0.0
        if now < self._again_at:
            return self._again_at - now
        return FIRST_S if self._trying else 0.0

    def enter(self, now: float) -> float:
        """As `closed_for`; after a 0, send, and call `went_well` or `failed` whatever comes."""
        wait_s = self.closed_for(now)
        if wait_s == 0.0:
            self._trying = self._backoff is not None
        return wait_s

    def went_well(self, sent_at: float) -> None:
        """Say that a request sent then was answered, be it with a no."""
        if self._is_news(sent_at):
            # No healthy stretch is asked for, as streams have to show one: a single object that
            # some webhook chokes on must not slow down all other writes more and more.
            self._backoff, self._trying = None, False

    def failed(self, sent_at: float, now: float, retry_after_s: float | None = None) -> float:
        """Say that a request sent then failed; returns the seconds to leave the server alone."""
        if self._is_news(sent_at):
            self._backoff = self._backoff or Backoff(self._random)
            self._trying = False
            self._failed_at = now
            self._again_at = now + self._backoff.after_failure(retry_after_s=retry_after_s)
        elif retry_after_s is not None:
            # One of several that failed together may have been told more than the first.
            asked_s = min(retry_after_s, LONGEST_RETRY_AFTER_S)
            self._again_at = max(self._again_at, now + asked_s)
        return max(0.0, self._again_at - now)

    def _is_news(self, sent_at: float) -> bool:
        return self._backoff is None or sent_at > self._failed_at
