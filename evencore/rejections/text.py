"""The report for people: tables of at most 120 columns.

`wide` says all there is: every node in the table, and every reason and sentence below an owner.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evencore.domain.text import clock, count
from evencore.tables import (
    BOLD,
    DIM,
    GREEN,
    RED,
    WIDTH,
    YELLOW,
    Pen,
    Row,
    printable,
    table,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from evencore.rejections.listing import RejectedPod
    from evencore.rejections.report import OwnerReport, Report

_COLOURS: Final = {
    "held": YELLOW,
    "stuck": RED,
    "excluded": YELLOW,
    "released": GREEN,
    "quiet": DIM,
}
_STATE: Final = 2  # the column that is painted
_SOME: Final = 2  # nodes that are named


def render(report: Report, *, colour: bool, wide: bool = False) -> str:
    """Write the report; with ANSI colours only if `colour`."""
    pen = Pen(colour)
    blocks = []
    if report.owners:
        titles = ("NAMESPACE", "OWNER", "STATE", "REJECTED", "SINCE", "LAST", "DONE", "WHERE")
        rows = [
            Row(
                _cells(one, report.now, wide=wide),
                _STATE,
                _COLOURS[one.state],
                [*(_more(one) if wide else ()), _next(one, report.now)],
            )
            for one in report.owners
        ]
        blocks.append(list(table(titles, rows, pen)))
    if report.manual:
        blocks.append(list(_manual(report.manual, report.now, pen)))
    blocks.append([pen.paint(_summary(report), BOLD)])
    blocks[-1] += [line for note in report.notes for line in wrapped(printable(note), WIDTH)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def render_pods(pods: Sequence[RejectedPod], now: datetime, *, colour: bool) -> str:
    """Write the rejected pods one by one."""
    pen = Pen(colour)
    titles = ("NAMESPACE", "POD", "NODE", "AGE", "REASON", "OWNER")
    rows = [
        Row((p.namespace, p.name, p.node, _ago(p.at, now), p.reason, p.owner or "no controller"))
        for p in pods
    ]
    lines = list(table(titles, rows, pen)) if rows else []
    return "\n".join([*lines, pen.paint(count(len(pods), "rejected pod"), BOLD)]) + "\n"


def one_line_each(report: Report) -> list[str]:
    """Write a line for each owner and pod, for who follows without a terminal, and no ages."""
    owners = [
        f"{one.owner.namespace} {one.owner.kind}/{one.owner.name} {one.state}: "
        f"{one.rejections} rejected, {done(one)}; {one.prospect.sentence}"
        for one in report.owners
    ]
    manual = [f"{p.namespace} Pod/{p.name} rejected by {p.node}: {p.action}" for p in report.manual]
    return [printable(line) for line in owners + manual] or [_summary(report)]


def _cells(one: OwnerReport, now: datetime, *, wide: bool) -> list[str]:
    where = [f"{node} ({number})" for node, number in one.nodes]
    if not wide and len(where) > _SOME:
        where[_SOME:] = [f"{len(where) - _SOME} more"]
    return [
        one.owner.namespace,
        f"{one.owner.kind}/{one.owner.name}",
        one.state,
        str(one.rejections),
        _ago(one.since, now),
        _ago(one.last, now),
        done(one),
        ", ".join(where) or "-",
    ]


def _more(one: OwnerReport) -> Iterator[str]:
    """Say by whose refusals and until when each node is excluded, and what was deleted."""
    if one.reasons:
        yield "rejected: " + ", ".join(f"{reason} ({number})" for reason, number in one.reasons)
    # Nodes that are excluded for the same are told together.
    nodes: dict[tuple[datetime, str, int], list[str]] = {}
    for it in one.prospect.excluded:
        nodes.setdefault((it.until, it.reason, it.rejections), []).append(it.node)
    for (until, reason, number), named in nodes.items():
        times = count(number, "rejection") + (" each" if len(named) > 1 else "")
        yield f"not on {', '.join(named)} until {clock(until)}: {reason}, {times}"
    if one.cleaned:
        yield one.cleaned


def done(one: OwnerReport) -> str:
    """Say what evencore has done for an owner."""
    excluded, flock = one.prospect.excluded, one.prospect.flock
    parts = []
    if flock.held:
        parts.append(f"{len(flock.held)} held")
    if flock.in_flight:
        parts.append(f"{flock.in_flight} let go")
    if one.prospect.waiting:
        parts.append(f"{one.prospect.waiting} wait for a node")
    if flock.admitted:
        parts.append(f"{len(flock.admitted)} run")
    if excluded:
        until = clock(max(e.until for e in excluded))
        parts.append(f"{len(excluded)} excluded to {until}")
    if one.cleaned:
        parts.append("cleaned up")
    return ", ".join(parts) or "-"


def _next(one: OwnerReport, now: datetime) -> str:
    """Say what comes next, and how long that takes: the sentence tells the minute alone."""
    when = one.prospect.when
    if when is None or when <= now:
        return one.prospect.sentence
    return f"{one.prospect.sentence} (in {_ago(now, when)})"


def _manual(pods: Sequence[RejectedPod], now: datetime, pen: Pen) -> Iterator[str]:
    yield pen.paint("Needs manual action:", BOLD)
    titles = ("NAMESPACE", "POD", "NODE", "AGE", "REASON", "OWNER")
    rows = [
        Row(
            (p.namespace, p.name, p.node, _ago(p.at, now), p.reason, p.owner or "no controller"),
            below=[p.action] if p.action else (),
        )
        for p in pods
    ]
    yield from table(titles, rows, pen)


def _summary(report: Report) -> str:
    if not report.owners and not report.manual:
        return "No rejected pods: nothing to do"
    parts = [f"{count(len(report.owners), 'owner')} with rejected or steered pods"]
    states = Counter(one.state for one in report.owners)
    parts += [f"{number} {state}" for state, number in sorted(states.items())]
    if report.manual:
        parts.append(f"{count(len(report.manual), 'pod')} to be looked after by hand")
    return f"{', '.join(parts)}; as of {clock(report.now)}"


def _ago(at: datetime | None, now: datetime) -> str:
    """Show how long ago something was, in one unit, as kubectl does."""
    if at is None:
        return "-"
    seconds = max(0, round((now - at).total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
