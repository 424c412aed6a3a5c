"""What is counted of admissions, in plain numbers that become metrics when somebody asks.

Each counter of the metrics library takes a lock and checks its amount: for the seven of one
admission that is a tenth of its whole cost. Here one thread counts, and any may read.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Metric

RESULTS: Final = ("patched", "unchanged", "denied", "passed", "unreadable", "failed", "refused")

# The job takes about 0.0001 s; anything near the API server's timeout is a fault.
SECONDS: Final = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0)


class Admissions(Collector):
    """Counts admissions. One thread may count."""

    def __init__(self) -> None:
        self.results = dict.fromkeys(RESULTS, 0)
        self.containers_aligned = 0
        self.millis_added = 0  # of CPU
        self.pods_steered = 0
        self._within = [0] * (len(SECONDS) + 1)  # the last: longer than all of them
        self._seconds = 0.0

    def took(self, seconds: float) -> None:
        """Count how long one admission took."""
        self._within[bisect_left(SECONDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterable[Metric]:
        """Tell all of it in the library's words."""
        requests = CounterMetricFamily(
            "evencore_admission_requests",
            "Admission requests answered, by what became of them.",
            labels=["result"],
        )
        for result, number in self.results.items():
            requests.add_metric([result], number)
        yield requests
        bounds = (*(str(bound) for bound in SECONDS), "+Inf")
        yield HistogramMetricFamily(
            "evencore_admission_duration_seconds",
            "Time from the whole body to the answer, without network and TLS.",
            buckets=list(zip(bounds, accumulate(self._within), strict=True)),
            sum_value=self._seconds,
        )
        yield CounterMetricFamily(
            "evencore_containers_aligned",
            "Containers whose CPU request was rounded up to whole cores.",
            value=self.containers_aligned,
        )
        yield CounterMetricFamily(
            "evencore_cpus_added",
            "CPUs added to requests by rounding up: what alignment costs.",
            value=self.millis_added / 1000,
        )
        yield CounterMetricFamily(
            "evencore_pods_steered",
            "Pods created with nodes excluded that had rejected pods of the same owner.",
            value=self.pods_steered,
        )
