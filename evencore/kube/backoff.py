"""How long to wait before asking the API server again.

For: two small rules, both pure: `Backoff` (longer after each failure) and `Pace` (never more than
two requests a second in a loop that fails, however the failures come).
Not for: deciding what to ask next, or waiting; the reflector does both.

client-go waits 0.8 to 30 s, doubled and jittered, and starts over after two minutes without need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_S = 0.5
"""The shortest wait: with one request in each turn this alone keeps to two a second."""

CEILING_S = 30.0
"""The longest wait that we choose ourselves: a view this old still helps; an older one misleads."""

HEALTHY_S = 120.0
"""So long must a stream have run before its end is taken for a new problem, not for the old one."""

LONG_LIVED_S = 10.0
"""A stream that ran so long was worth opening: see `Backoff.after_failure`."""

EACH_S = 0.5
"""What one request costs in `Pace`: two a second."""

MOST_OWED_S = 60.0
"""See `Pace`: the most that is ever owed."""

LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for more patience than this would leave us blind by one wrong header."""


class Backoff:
    """Seconds to wait after each failure: doubling, jittered, reset only by a healthy stretch.

    `random` returns a number in [0, 1), as random.random does.
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._base_s = FIRST_S

    def after_failure(self, healthy_s: float = 0.0, retry_after_s: float | None = None) -> float:
        """Seconds to wait now, at least FIRST_S; the next wait will be longer.

        `healthy_s`: how long things went well before this failure, 0 for a request that just
        failed. `retry_after_s`: what the server asked for; it is a minimum, capped at
        LONGEST_RETRY_AFTER_S.
        """
        self.went_well(healthy_s)
        wait_s = self._base_s * (1.0 + self._random())
        self._base_s = min(self._base_s * 2.0, CEILING_S / 2.0)
        if healthy_s >= LONG_LIVED_S:
            # A load balancer that cuts quiet streams after 35 or 60 s must not make us blind for
            # half of the time: the wait is at most a tenth of what the stream lived, which is
            # one second or more and so keeps the pace.
            wait_s = min(wait_s, healthy_s / 10.0)
        if retry_after_s is not None:
            # Jittered upwards only: everybody was told the same number.
            asked_s = min(retry_after_s, LONGEST_RETRY_AFTER_S) * (1.0 + self._random() / 10.0)
            wait_s = max(wait_s, asked_s)
        return wait_s

    def went_well(self, healthy_s: float) -> None:
        """Say that things went well for `healthy_s`: two minutes start the waits over."""
        if healthy_s >= HEALTHY_S:
            self._base_s = FIRST_S


class Pace:
    """Half a second owed for every request; paid by time, asked for only after a failure.

    A list of many pages is work, not a failing loop, so nobody waits between its pages; but if
    what follows fails, all of its pages are paid for. The debt is capped at a minute: a list of
    more than 120 pages that fails again and again is repeated once a minute; to be blind for
    longer would do more harm than the requests.
    """

    def __init__(self) -> None:
        self._paid_at = float("-inf")

    def spend(self, now: float) -> None:
        """Count a request that starts at `now` (monotonic seconds)."""
        self._paid_at = min(max(self._paid_at, now) + EACH_S, now + MOST_OWED_S)

    def owed(self, now: float) -> float:
        """Seconds from `now` until all requests are paid for; 0 if they are."""
        return max(0.0, self._paid_at - now)
