"""What a scenario came to, in words and for machines. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.text import count
from simulator.scenario.ledger import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.scenario.player import Entry, Outcome
    from simulator.scenario.reading import Scenario

_MARKS: Final = {"step": "", "refused": "refused: ", "told": "Warning: ", "warning": "! "}
_NOW: Final = ("running", "pending")


def moment(seconds: float) -> str:
    """Write a moment as 0:05, 12:30 or 1:00:00."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def head(scenario: Scenario) -> str:
    """Say what is going to be played."""
    file = scenario.file
    nodes = sum(one.count for one in file.machines().nodes)
    if file.clock is None:
        clock = "time that jumps"
    else:
        clock = "real time" if file.clock == 1 else f"{file.clock:g} times real time"
    lasts = moment(file.lasts)
    return f"{scenario.name}: {count(nodes, 'node')}, {lasts} of {clock}, seed {file.seed}"


def line(entry: Entry) -> str:
    """Write an entry of the timeline."""
    said = _pods(entry.text, entry.counts) if entry.counts else _MARKS[entry.kind] + entry.text
    return f"{moment(entry.at):>7}  {plain(said)}"


def _pods(workload: str, counts: Counts) -> str:
    shown = asdict(counts)
    since = [f"+{number} {name}" for name, number in shown.items() if number and name not in _NOW]
    now = [f"{shown[name]} {name}" for name in _NOW if shown[name]]
    return f"{workload}: {', '.join([*since, 'now ' + (' and '.join(now) or 'none')])}"


def summary(outcome: Outcome) -> str:
    """Write the tables of the end; those that would be empty are left out."""
    workloads = [
        (str(workload), *asdict(counts).values()) for workload, counts in outcome.workloads.items()
    ]
    nodes = [
        (node, sum(reasons.values()), ", ".join(f"{why} {n}" for why, n in reasons.most_common()))
        for node, reasons in sorted(outcome.nodes.items())
    ]
    warnings = [
        (source.reason, warned.times, f"{source.component}: {warned.first}")
        for source, warned in outcome.warnings.items()
    ]
    tables = (
        _table(("workload", *asdict(Counts())), sorted(workloads)),
        _table(("node", "rejected", "reasons"), nodes),
        _table(("warning", "times", "first from"), warnings),
    )
    return "\n\n".join(table for table in tables if table)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Align a table: numbers to the right. Empty without rows."""
    if not rows:
        return ""
    cells = [head, *([plain(str(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [isinstance(cell, int) for cell in rows[0]]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    )


def plain(text: str) -> str:
    """Keep what a cluster says on one line, and control characters off the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def to_dict(
    scenario: Scenario, entries: Iterable[Entry], outcome: Outcome, unmet: Sequence[str]
) -> dict[str, Any]:
    """Give everything, for machines."""
    return {
        "scenario": scenario.name,
        "seed": scenario.file.seed,
        "seconds": round(outcome.seconds, 3),
        "interrupted": outcome.interrupted,
        "timeline": [_entry(entry) for entry in entries],
        "workloads": [
            {**workload._asdict(), **asdict(counts)}
            for workload, counts in sorted(outcome.workloads.items())
        ],
        "nodes": [
            {"name": node, "rejected": dict(reasons)}
            for node, reasons in sorted(outcome.nodes.items())
        ],
        "warnings": [
            {**source._asdict(), "times": warned.times, "message": warned.first}
            for source, warned in outcome.warnings.items()
        ],
        "unmet": list(unmet),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"at": round(entry.at, 3), "kind": entry.kind}
    if entry.workload is not None and entry.counts is not None:
        return {**told, "workload": entry.workload._asdict(), **asdict(entry.counts)}
    return {**told, "text": entry.text}
