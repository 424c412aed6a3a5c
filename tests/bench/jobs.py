"""What the load process is asked for and what it answers: one line of JSON each."""

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass, field

from .stats import percentile

CLOSED, OPEN, BURST = "closed", "open", "burst"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One measurement of one server. Times in seconds, sizes in bytes."""

    shape: str
    """closed: every connection sends its next request when it has an answer.
    open: requests are due at given times, whatever became of those before.
    burst: many callers at the same moment, after a pause."""
    port: int
    pids: list[int]
    certificate: str
    size: int
    connections: int = 0
    """Of a closed or open loop."""
    seconds: float = 0
    """How long a loop is measured."""
    rate: float = 0
    """Requests per second of an open loop."""
    callers: int = 0
    """Of each burst."""
    bursts: int = 0

    def line(self) -> bytes:
        """Encode for the load process."""
        return json.dumps(dataclasses.asdict(self)).encode() + b"\n"


@dataclass(frozen=True)
class Result:
    """What one measurement came to. Times in seconds; NaN (null in JSON) where nothing came."""

    admissions: int
    """Right answers."""
    seconds: float
    cpu_seconds: float
    """Processor time of the server and all its children meanwhile."""
    p50: float
    p99: float
    errors: dict[str, int] = field(default_factory=dict)
    """What went wrong -> how often."""
    load_busy: float = 0.0
    """Share of its core that the load process used: near 1, it is what was measured."""

    @property
    def cpu_per_admission(self) -> float:
        """Processor time of the server per right answer, in seconds."""
        return self.cpu_seconds / self.admissions if self.admissions else float("nan")

    @property
    def per_second(self) -> float:
        """Right answers a second."""
        return self.admissions / self.seconds if self.seconds else 0.0


def result_of(
    latencies: list[float], errors: Counter[str], seconds: float, cpu: float, load_cpu: float
) -> Result:
    """Sum one measurement up."""
    return Result(
        admissions=len(latencies),
        seconds=seconds,
        cpu_seconds=cpu,
        p50=percentile(latencies, 0.5),
        p99=percentile(latencies, 0.99),
        errors=dict(errors),
        load_busy=load_cpu / seconds if seconds else 0.0,
    )
