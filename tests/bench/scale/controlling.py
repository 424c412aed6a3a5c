"""The controller: what it reads at its start, what events and releases cost, what it keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from tests.bench.progress import note

from .figures import Figure, Yard
from .memory import memory
from .processes import Process, Site, ask, controller, wait_ready, wait_settled

_HIGHEST = 1e6
"""Events a second that no reader keeps up with: it then gets several at a time."""

_MIB, _SECONDS, _MICROS = 200, 6.0, 60
_RELEASES = 200


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """How much is measured."""

    rounds: int = 3
    events: int = 3000
    rate: int = 500
    """Events a second, as a large cluster on a busy day has."""
    held: int = 400


def measure(where: Site, amounts: Amounts) -> list[Figure]:
    """Run one controller from its start on, and measure all of it."""
    size, yard, found = str(where.size), Yard(), list[Figure]()

    def add(what: str, value: float, unit: str, **more: float | bool | None) -> None:
        found.append(Figure(what=what, size=size, value=value, unit=unit, **more))  # type: ignore[arg-type]

    with controller(where) as process:
        note(f"{size}: the controller reads everything")
        before = yard.measure()
        wait_ready(process)
        seconds = process.cpu()
        yards = seconds / median([before, yard.measure()]) / max(1, where.size.pods)
        add("initial sync", seconds, "s CPU", limit=_SECONDS, yards=yards)
        listed = sum(n for k, n in ask(where, "stats")["requests"].items() if k.startswith("LIST"))
        add("pages read for it", listed, "requests")
        note(f"{size}: the controller takes over")
        wait_settled(process, where)
        add("taking over, after that", process.cpu() - seconds, "s CPU")
        add("memory, settled", memory(process.pids).rss, "MiB RSS", limit=_MIB)
        add("the same, shared out", memory(process.pids).pss, "MiB PSS")
        for what, rate, limit in (
            ("an event, as fast as it reads", _HIGHEST, _MICROS),
            (f"an event, {amounts.rate} a second", amounts.rate, None),
        ):
            note(f"{size}: {what}")
            costs = [
                _each(where, process, yard, amounts.events, rate) for _ in range(amounts.rounds)
            ]
            micros = median([seconds * 1e6 for seconds, _ in costs])
            add(what, micros, "µs CPU", limit=limit, yards=median([y for _, y in costs]))
        note(f"{size}: releases")
        released = [_releases(where, process, yard, amounts.held) for _ in range(amounts.rounds)]
        per_second = median([rate for rate, _, _ in released])
        add("releases", per_second, "a second", limit=_RELEASES, at_least=True)
        millis = median([seconds * 1e3 for _, seconds, _ in released])
        add("a release", millis, "ms CPU", yards=median([y for _, _, y in released]))
        add("memory, peak of all this", memory(process.pids).peak, "MiB RSS", limit=_MIB)
    return found


def _each(
    where: Site, process: Process, yard: Yard, events: int, rate: float
) -> tuple[float, float]:
    """Return the processor time per event in seconds, and in yards."""
    return _cost(process, yard, events, lambda: ask(where, "stream", count=events, rate=rate))


def _releases(where: Site, process: Process, yard: Yard, held: int) -> tuple[float, float, float]:
    """Return releases a second, the processor time of one in seconds, and in yards."""
    at: list[float] = []
    each, yards = _cost(
        process, yard, held, lambda: at.extend(ask(where, "hold", count=held)["patched_at"])
    )
    return (len(at) - 1) / (at[-1] - at[0]), each, yards


def _cost(
    process: Process, yard: Yard, number: int, work: Callable[[], object]
) -> tuple[float, float]:
    first, before = yard.measure(), process.cpu()
    work()
    seconds = (process.cpu() - before) / number
    return seconds, seconds / median([first, yard.measure()])
