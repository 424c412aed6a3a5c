"""What a run came to: ratios first, then the figures they were made of."""

import math
import statistics
from dataclasses import asdict
from typing import Any

from .compare import aimed, comparisons, measured, pairs
from .jobs import BURST, Result
from .measure import Figures
from .servers import EVENCORE, FLASK, GO
from .stats import Ratio, median

_BUSY = 0.9
"""Above this share of its core the load process may be what limits a server."""

_LABELS = {EVENCORE: "evencore", GO: "Go", FLASK: "Flask"}


def text(facts: dict[str, str], figures: Figures) -> str:
    """Return the report for people; `facts` is what one must know to read the figures."""
    parts = [", ".join(facts.values()), _ratio_table(figures), _aims(figures), _table(figures)]
    return "\n\n".join(part for part in parts if part)


def data(facts: dict[str, str], figures: Figures) -> dict[str, Any]:
    """Return the report for machines; times in seconds, null where there is no figure."""
    report = {
        "facts": facts,
        "ratios": [asdict(comparison) for comparison in comparisons(figures)],
        "aims": [
            {**asdict(aim), "median": ratio.median, "met": ratio.median <= aim.at_most}
            for aim, ratio in aimed(figures)
        ],
        "figures": [
            {"point": asdict(point), "server": name, "rounds": [_round(r) for r in results]}
            for (point, name), results in figures.items()
        ],
    }
    plain: dict[str, Any] = _without_nan(report)
    return plain


def columns(head: list[str], rows: list[list[str]], left: set[str]) -> str:
    """Return rows under a head, aligned by spaces: `left` names the columns of words."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ).rstrip()
        for row in [head, *rows]
    )


def _ratio_table(figures: Figures) -> str:
    """Return a row per point: processor time and p99 to each yardstick."""
    compared = pairs(measured(figures))
    if not compared:
        return ""
    found = {(c.point, c.of, c.to): c for c in comparisons(figures)}
    head = ["KB", "load"]
    head += [f"{what} {_LABELS[a]} to {_LABELS[b]}" for what in ("CPU", "p99") for a, b in compared]
    rows = []
    for point in dict.fromkeys(point for point, _, _ in found):
        here = [found.get((point, *pair)) for pair in compared]
        row = [point.size, point.load, *(_spread(c.cpu) if c else "-" for c in here)]
        rows.append([*row, *(_spread(c.p99) if c else "-" for c in here)])
    title = "Ratios: median of pairs of the same round (least - most); below 1 the first is better"
    return f"{title}\n{columns(head, rows, left={'load'})}"


def _aims(figures: Figures) -> str:
    """Say whether the aims are met. It never fails a run: machines differ."""
    found = aimed(figures)
    if not found:
        return "Aims: not measured in this run"
    rows = [
        [
            aim.words,
            f"{aim.at_most:.1f}",
            _spread(ratio),
            "ok" if ratio.median <= aim.at_most else "NOT met",
        ]
        for aim, ratio in found
    ]
    return columns(["Aims, to Go", "at most", "measured", ""], rows, left={"Aims, to Go", ""})


def _table(figures: Figures) -> str:
    """Return a row per point and server."""
    head = ["KB", "load", "server", "CPU us", "p50 ms", "p99 ms", "per second", "errors"]
    rows, any_busy = [], False
    names = measured(figures)
    for point in dict.fromkeys(point for point, _ in figures):
        for name in names:
            if not (results := figures.get((point, name))):
                continue
            busy = statistics.median(r.load_busy for r in results) > _BUSY
            any_busy = any_busy or busy
            times = [[r.p50 * 1e3 for r in results], [r.p99 * 1e3 for r in results]]
            rate = f"{median([r.per_second for r in results]):,.0f}{'*' * busy}"
            rows.append(
                [
                    *(point.size, point.load, _LABELS[name]),
                    f"{median([r.cpu_per_admission * 1e6 for r in results]):,.0f}",
                    *(f"{median(values):.2f}" for values in times),
                    "-" if point.shape == BURST else rate,  # pauses between bursts are no work
                    _errors(results),
                ]
            )
    title = "Figures per admission: median of the rounds, errors of all"
    note = "\n* the load process was busy all the time: the server could do more" * any_busy
    return f"{title}\n{columns(head, rows, left={'load', 'server', 'errors'})}{note}"


def _spread(ratio: Ratio) -> str:
    return f"{ratio.median:.2f} ({ratio.low:.2f} - {ratio.high:.2f})"


def _errors(results: list[Result]) -> str:
    """Return the number of errors out of all answers and, if any, one kind of them."""
    kinds = {kind for r in results for kind in r.errors}
    count = sum(sum(r.errors.values()) for r in results)
    total = count + sum(r.admissions for r in results)
    return f"{count} of {total:,}" + (f" ({min(kinds)})" if kinds else "")


def _round(result: Result) -> dict[str, Any]:
    derived = {"cpu_per_admission": result.cpu_per_admission, "per_second": result.per_second}
    return asdict(result) | derived


def _without_nan(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return the value with None for NaN, which JSON does not know."""
    match value:
        case dict():
            return {key: _without_nan(part) for key, part in value.items()}
        case list():
            return [_without_nan(part) for part in value]
        case float() if math.isnan(value):
            return None
    return value
