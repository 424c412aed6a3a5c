"""The report for people: tables of at most 120 columns, or of any width with `wide`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evencore.domain.text import count, one_of
from evencore.simulation.placing import Outcome
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
    from collections.abc import Iterator, Mapping

    from evencore.simulation.placing import Fate
    from evencore.simulation.report import NodeReport, Report, Workload

_COLOURS: Final = {
    Outcome.ADMITTED: GREEN,
    Outcome.UNKNOWN: DIM,
    Outcome.PENDING: YELLOW,
    Outcome.HELD: YELLOW,
}
"""Everything else is red."""
_WORST_FIRST: Final = (
    Outcome.LOOPS,
    Outcome.REJECTED,
    Outcome.DENIED,
    Outcome.HELD,
    Outcome.PENDING,
    Outcome.UNKNOWN,
    Outcome.ADMITTED,
)
_WORKLOADS: Final = ("NAMESPACE", "WORKLOAD", "PODS", "BECOME", "NODES")
_NODES: Final = ("NODE", "POLICY", "PODS", "FREE CPUS", "STRANDED", "WHY")
_SOME: Final = 3  # nodes that are named


def render(report: Report, *, colour: bool, wide: bool = False) -> str:
    """Write the report; with ANSI colours only if `colour`."""
    pen, width = Pen(colour), None if wide else WIDTH
    blocks = []
    if report.workloads:
        rows = [_workload(one, wide=wide) for one in report.workloads]
        blocks.append(list(table(_WORKLOADS, rows, pen, width)))
    if report.nodes:
        blocks.append(list(table(_NODES, [_node(one) for one in report.nodes], pen, width)))
    if notes := list(_notes(report, pen, width)):
        blocks.append(notes)
    first, *rest = wrapped(_summary(report), width)
    blocks.append([pen.paint(line, BOLD) for line in (first, *rest)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _workload(one: Workload, *, wide: bool) -> Row:
    outcomes = one.outcomes
    listed = [outcome for outcome in _WORST_FIRST if outcomes[outcome]]
    nodes = Counter(f.node for f in one.fates if f.outcome is Outcome.ADMITTED and f.node)
    reasons = "; ".join(_reasons(one))
    return Row(
        (
            one.namespace,
            one.name,
            str(len(one.fates)),
            ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in listed),
            _counted(nodes, wide=wide),
        ),
        3,
        _COLOURS.get(listed[0], RED),
        (reasons,) if reasons else (),
    )


def _reasons(one: Workload) -> Iterator[str]:
    """Say of each outcome that is not simply "admitted" how it came to it, the commonest first."""
    told = Counter(filter(None, map(_story, one.fates)))
    for story, number in told.most_common():
        yield f"{number} {story}" if len(one.fates) > 1 else story


def _story(fate: Fate) -> str:
    """Tell what became of a pod, and why; "" if there is nothing to tell."""
    before = Counter(rejection.node for rejection in fate.rejections)
    where = one_of(before, last="and") if before else ""
    if fate.outcome is Outcome.ADMITTED:
        return f"admitted only after {where} rejected its like" if before else ""
    if fate.outcome in (Outcome.LOOPS, Outcome.REJECTED):
        return f"{fate.outcome} on {where}: {fate.why}"
    if fate.outcome is Outcome.UNKNOWN:
        return f"unknown on {fate.node}: {fate.why}"
    if fate.outcome is Outcome.HELD:
        return fate.why
    after = f" (after {where} rejected it)" if before else ""
    return f"{fate.outcome}: {fate.why}{after}"


def _node(one: NodeReport) -> Row:
    standing = one.standing
    before, after = _cpus(one.before), _cpus(one.after)
    why = standing.known.unknown or standing.doubt
    if not why and one.stranded:
        why = one.stranded.why
    return Row(
        (
            standing.name,
            standing.known.policy or "?",
            f"+{one.admitted}" if one.admitted else "-",
            before if before == after else f"{before} → {after}",
            "?" if one.stranded is None else _cpus(one.stranded.cpus),
            why or "-",
        ),
        4,
        YELLOW if one.stranded and one.stranded.total else "",
    )


def _cpus(cpus: Mapping[int, int] | None) -> str:
    return "?" if cpus is None else ",".join(map(str, cpus.values()))


def _counted(nodes: Mapping[str, int], *, wide: bool) -> str:
    listed = [f"{node} ({number})" for node, number in sorted(nodes.items())]
    if not wide and len(listed) > _SOME:
        listed[_SOME:] = [f"{len(listed) - _SOME} more"]
    return ", ".join(listed) or "-"


def _notes(report: Report, pen: Pen, width: int | None) -> Iterator[str]:
    """Yield what was assumed: of single nodes, then of all."""
    of_nodes: dict[str, list[str]] = {}
    for one in report.nodes:
        for note in one.standing.notes:
            of_nodes.setdefault(note, []).append(one.standing.name)
    texts = [f"{_named(nodes)}: {note}" for note, nodes in of_nodes.items()]
    room = None if width is None else width - 2
    for text in (*texts, *report.notes):
        first, *rest = wrapped(printable(text), room)
        yield pen.paint("- ", DIM) + first
        yield from (f"  {line}" for line in rest)


def _named(nodes: list[str]) -> str:
    more = f" and {len(nodes) - _SOME} more" if len(nodes) > _SOME else ""
    return ", ".join(nodes[:_SOME]) + more


def _summary(report: Report) -> str:
    outcomes = report.outcomes
    listed = [f"{outcomes[outcome]} {outcome}" for outcome in _WORST_FIRST if outcomes[outcome]]
    pods = count(sum(outcomes.values()), "pod")
    text = f"{pods}: {', '.join(listed)}" if listed else "no pods to place"
    free = sum(sum(one.after.values()) for one in report.nodes if one.after)
    text += f"; {count(free, 'free CPU')}"
    if report.sizes:
        lost = sum(one.stranded.total for one in report.nodes if one.stranded)
        text += f", {lost} of them of no use to containers of {one_of(report.sizes)} CPUs"
    unknown = sum(one.after is None for one in report.nodes)
    if unknown:
        text += f"; what is free on {count(unknown, 'node')} is not known"
    return text if report.evencore else f"without evencore: {text}"
