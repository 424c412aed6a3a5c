"""How fast we may write when nothing fails: so many a second, with a burst.

For: one small rule, pure. A loop of ours that runs wild costs the API server no more than this.
Not for: loops that fail; `breaker` is for those.

client-go's default (5 a second, burst 10) is for a person at a terminal; kube-controller-manager
runs with 20 and 30.
"""

from __future__ import annotations

PER_SECOND = 20.0
BURST = 40


class Bucket:
    """A token bucket that is full at first; each call of `take` takes a token, at once or later."""

    def __init__(self, per_second: float = PER_SECOND, burst: int = BURST) -> None:
        if per_second <= 0 or burst < 1:
            raise ValueError(
                f"{per_second:g} writes a second with a burst of {burst} would never write: "
                "give a rate above 0 and a burst of at least 1"
            )
        self._each_s = 1.0 / per_second
        self._spare_s = (burst - 1) * self._each_s
        self._next = float("-inf")

    def take(self, now: float) -> float:
        """Reserve the next token; returns the seconds from `now` (monotonic) until it is there.

        Who asks first is served first: the tokens of those that still wait are taken already.
        """
        at = max(self._next, now)
        self._next = at + self._each_s
        return max(0.0, at - now - self._spare_s)
