"""What is counted of admissions, in plain numbers that become metrics when somebody asks.

Each counter of the metrics library takes a lock and checks its amount: for the seven of one
admission that is a tenth of its whole cost. Here one thread counts, and any may read. Nor is the
library needed for that: it is imported by whom somebody asks (`metrics`).
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Final

RESULTS: Final = ("patched", "unchanged", "denied", "passed", "unreadable", "failed", "refused")

# The job takes about 0.0001 s; anything near the API server's timeout is a fault.
SECONDS: Final = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0)


class Admissions:
    """Counts admissions. One thread may count."""

    def __init__(self) -> None:
        self.results = dict.fromkeys(RESULTS, 0)
        self.containers_aligned = 0
        self.millis_added = 0  # of CPU
        self.pods_steered = 0
        self.refused: dict[int, int] = {}  # requests by their HTTP status
        self._within = [0] * (len(SECONDS) + 1)  # the last: longer than all of them
        self.seconds = 0.0  # all of them together

    def took(self, seconds: float) -> None:
        """Count how long one admission took."""
        self._within[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds

    def within(self) -> list[int]:
        """Count those that took at most so long, for each of SECONDS, and all of them."""
        return list(accumulate(self._within))

    def refuse(self, status: int) -> None:
        """Count a request that was turned away."""
        self.refused[status] = self.refused.get(status, 0) + 1


ADMISSIONS: Final = Admissions()
"""Of this process."""
