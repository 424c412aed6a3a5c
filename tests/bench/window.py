"""The stretch of a run that counts: latencies, errors and processor time between two marks."""

import time
from collections import Counter

from .cores import cpu_seconds
from .jobs import Result, result_of


class Window:
    """Counts what is finished between `start()` and `stop()`, nothing before and after."""

    def __init__(self, pids: list[int]) -> None:
        self.counting = False
        self._pids = pids
        self._latencies: list[float] = []
        self._errors: Counter[str] = Counter()
        self._marks = (0.0, 0.0, 0.0)

    def start(self) -> None:
        """Begin to count."""
        self._marks = self._now()
        self.counting = True

    def stop(self) -> Result:
        """End counting and sum up."""
        self.counting = False
        seconds, cpu, load = (b - a for a, b in zip(self._marks, self._now(), strict=True))
        return result_of(self._latencies, self._errors, seconds, cpu, load)

    def answered(self, since: float, trouble: str = "") -> None:
        """Note an answer to a request that was due at `since` (time.perf_counter())."""
        if not self.counting:
            return
        if trouble:
            self._errors[trouble] += 1
        else:
            self._latencies.append(time.perf_counter() - since)

    def _now(self) -> tuple[float, float, float]:
        """Return wall clock, the server's processor time and our own, in seconds."""
        return time.perf_counter(), cpu_seconds(self._pids), time.process_time()
