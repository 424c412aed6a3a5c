"""The report for people: a table of at most 120 columns.

`wide` says all there is: every NUMA node in the table, and below it what was learnt, and labels by
the reason why they are there, for most nodes have the same ones.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from evencore.domain.text import clock, count
from evencore.nodes.details import details
from evencore.tables import BOLD, DIM, RED, WIDTH, YELLOW, Pen, Row, printable, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from evencore.nodes.report import NodeReport, Report

_TITLES: Final = (
    "NODE",
    "POLICY",
    "SCOPE",
    "THREADS",
    "NUMA",
    "LARGEST",
    "IN USE",
    "REJECTED",
)
_MORE: Final = "ROOM SINCE"
_NUMA_SHOWN: Final = 4
_UNKNOWN: Final = "?"
_NOTHING: Final = "-"


def render(report: Report, *, colour: bool, wide: bool = False) -> str:
    """Write the report; with ANSI colours only if `colour`."""
    pen = Pen(colour)
    blocks: list[list[str]] = []
    if report.nodes:
        rows = [
            Row(
                [*_cells(one, wide=wide), *([_moment(one.room_since)] if wide else ())],
                0,
                RED if one.problems else "" if one.known else DIM,
            )
            for one in report.nodes
        ]
        blocks.append(list(table((*_TITLES, _MORE) if wide else _TITLES, rows, pen)))
    if wide:
        blocks += details(report.nodes, pen)
    if problems := list(_problems(report, pen)):
        blocks.append(problems)
    blocks.append([pen.paint(_summary(report), BOLD)])
    blocks[-1] += [line for note in report.notes for line in wrapped(printable(note), WIDTH)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _cells(one: NodeReport, *, wide: bool) -> list[str]:
    facts = one.facts
    return [
        facts.name,
        one.policy.value if one.policy else _UNKNOWN,
        one.scope.value if one.scope else _UNKNOWN,
        _threads(one),
        _numa(one.numa, wide=wide),
        f"{_number(facts.max_container)}/{_number(facts.max_pod)}",
        f"{one.in_use.cpus}/{_number(one.room)}",
        _rejected(one),
    ]


def _threads(one: NodeReport) -> str:
    """Show a width, and whether the kubelet is known to check it."""
    if one.facts.width is None:
        return _UNKNOWN
    return f"{one.facts.width}{({None: ' ?', False: ' free'}).get(one.checked, '')}"


def _numa(cpus: tuple[int, ...], *, wide: bool) -> str:
    if not cpus:
        return _UNKNOWN
    shown = cpus if wide or len(cpus) <= _NUMA_SHOWN else cpus[: _NUMA_SHOWN - 1]
    more = f",+{len(cpus) - len(shown)}" if len(shown) < len(cpus) else ""
    return ",".join(map(str, shown)) + more


def _number(value: int | None) -> str:
    return _UNKNOWN if value is None else str(value)


def _rejected(one: NodeReport) -> str:
    if not one.rejections:
        return _NOTHING
    reasons = ", ".join(f"{number} {reason}" for reason, number in one.rejections.items())
    return f"{reasons}; last {clock(one.last_rejection)}" if one.last_rejection else reasons


def _moment(at: datetime | None) -> str:
    return _NOTHING if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def _problems(report: Report, pen: Pen) -> Iterator[str]:
    """Yield what is wrong, one paragraph each: sentences are too long for columns."""
    indent = "  "
    for problem in (*report.problems, *(text for one in report.nodes for text in one.problems)):
        first, *rest = wrapped(printable(problem), WIDTH - len(indent))
        yield pen.paint("! ", YELLOW) + first
        yield from (indent + line for line in rest)


def _summary(report: Report) -> str:
    problems = len(report.problems) + sum(len(one.problems) for one in report.nodes)
    unknown = sum(not one.known for one in report.nodes)
    nodes = count(len(report.nodes), "node") + (f", {unknown} unknown" if unknown else "")
    return f"{nodes}: {count(problems, 'problem') if problems else 'no problems'}"
