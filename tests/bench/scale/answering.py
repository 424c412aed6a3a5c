"""The webhook: how soon it answers, what it keeps, and its slowest answers while others read."""

import http.client
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from statistics import median

from tests.bench.certificate import client_context
from tests.bench.jobs import OPEN
from tests.bench.measure import Load, load_process
from tests.bench.plan import Point
from tests.bench.progress import note
from tests.bench.reviews import SIZES, bodies
from tests.bench.servers import Server
from tests.bench.stats import paired_ratio

from .figures import Figure
from .memory import memory
from .processes import Process, Site, controller, wait_serving, webhook

_MIB, _MILLIS, _TIMES = 60, 400, 1.2
_PATIENCE_SECONDS = 20.0
_PAUSE_SECONDS = 0.002


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """How much is measured. Times in seconds."""

    rounds: int = 5
    rate: int = 400
    """Admissions a second."""
    own_seconds: float = 1.0
    """From the first answer on: the webhook reads meanwhile."""
    other_seconds: float = 3.0
    """From the controller's start on."""


def measure(where: Site, amounts: Amounts) -> list[Figure]:
    """Measure the webhook's starts, and its answers beside a controller that starts."""
    size = str(where.size)
    starts, costs, kept, worker = [], [], [], []
    own: list[tuple[float, float]] = []
    with load_process(where.place) as load:
        for number in range(amounts.rounds):
            note(f"{size}: start {number + 1} of a webhook")
            began = time.perf_counter()
            with webhook(where) as process:
                _first_answer(process, where)
                starts.append(time.perf_counter() - began)
                costs.append(process.cpu())
                busy = _p99(load, process, amounts.own_seconds, amounts.rate)
                wait_serving(process, where)
                kept.append(memory(process.pids).pss)
                worker.append(max(memory([pid]).rss for pid in process.pids))
                own.append((busy, _p99(load, process, amounts.own_seconds, amounts.rate)))
        beside = _beside(where, load, amounts)
    times = {"while it reads itself": own, "while a controller reads": beside}

    def figure(what: str, value: float, unit: str, limit: float | None = None) -> Figure:
        return Figure(what=what, size=size, value=value, unit=unit, limit=limit)

    return [
        figure("webhook, first answer after", median(starts) * 1e3, "ms", _MILLIS),
        figure("webhook, until then", median(costs), "s CPU"),
        figure("webhook, memory of its largest process", median(worker), "MiB RSS", _MIB),
        figure("webhook, memory of all its processes, shared out", median(kept), "MiB PSS"),
        figure("webhook, p99 of an answer, idle", median([i for _, i in own]) * 1e3, "ms"),
        *(
            figure(f"webhook, p99 {when}", _ratio(pairs), "times idle", _TIMES)
            for when, pairs in times.items()
        ),
    ]


def _beside(where: Site, load: Load, amounts: Amounts) -> list[tuple[float, float]]:
    """Return p99s while a controller reads, each with one while nobody does."""
    pairs, seconds = [], amounts.other_seconds
    with webhook(where) as process:
        wait_serving(process, where)
        for number in range(amounts.rounds):
            note(f"{where.size}: controller {number + 1} starts beside a webhook")
            idle = _p99(load, process, seconds, amounts.rate)
            with ExitStack() as stack:
                stack.enter_context(controller(where))
                pairs.append((_p99(load, process, seconds, amounts.rate), idle))
    return pairs


def _ratio(pairs: list[tuple[float, float]]) -> float:
    return paired_ratio([busy for busy, _ in pairs], [idle for _, idle in pairs]).median


def _p99(load: Load, process: Process, seconds: float, rate: int) -> float:
    """Return p99 of the answers in so many seconds, in seconds."""
    point = Point(
        load="", shape=OPEN, size="6", rounds=1, connections=8, seconds=seconds, rate=rate
    )
    server = Server("webhook", process.port, process.pids, process.log)
    return load.measure(server, point).p99


def _first_answer(process: Process, where: Site) -> None:
    """Ask until a review is answered. Raises BenchError if that takes too long."""
    context = client_context(where.certificate.certificate)
    [(_, body)] = bodies(SIZES["6"], variants=1)

    def answered() -> bool:
        made = http.client.HTTPSConnection("127.0.0.1", process.port, timeout=5, context=context)
        with closing(made) as connection:
            try:
                connection.request("POST", "/mutate", body, {"Content-Type": "application/json"})
                return connection.getresponse().status == 200
            except OSError:
                return False

    process.wait(answered, _PATIENCE_SECONDS, "it does not answer", _PAUSE_SECONDS)
