"""The report for a person in a terminal: at most 100 columns, one block per pod.

Names come from other people's files, so nothing unprintable reaches the terminal.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Final

from evencore.domain.text import count
from evencore.explain.report import Outcome
from evencore.standing.verdicts import Refused, Unsure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evencore.explain.containers import ContainerReport
    from evencore.explain.nodes import NodesReport
    from evencore.explain.now import Now
    from evencore.explain.report import PodReport, Report
    from evencore.standing.verdicts import Verdict

WIDTH: Final = 100
_LABEL = 10  # columns of "  warning "
_SOME_NAMES = 3

_WORDS = {
    Outcome.CHANGED: ("changed", "33"),
    Outcome.UNCHANGED: ("unchanged", "32"),
    Outcome.LEFT_ALONE: ("left alone", "2"),
    Outcome.DENIED: ("denied", "31"),
    Outcome.UNREADABLE: ("unreadable", "31"),
}
_BOLD, _WARN = "1", "33"


def render_text(report: Report, *, colour: bool) -> str:
    """Write the report for people; with ANSI colours only if `colour`."""
    pen = _Pen(colour)
    blocks = ["\n".join(_pod(pod, pen)) for pod in report.pods]
    blocks.append("\n".join(_footer(report, pen)))
    return "\n\n".join(blocks) + "\n"


class _Pen:
    """Lays out labelled, wrapped lines, and colours words if that is wanted."""

    def __init__(self, colour: bool) -> None:  # noqa: FBT001  private, and called once
        self._colour = colour

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def lines(self, label: str, texts: Iterable[str], code: str = "") -> Iterator[str]:
        """Yield the texts, wrapped, the label before the first."""
        shown = f"  {label}".ljust(_LABEL)
        for text in texts:
            for line in _wrapped(text, WIDTH - _LABEL):
                yield (self.paint(shown, code) if code else shown) + line
                shown = " " * _LABEL
                code = ""


def _pod(pod: PodReport, pen: _Pen) -> Iterator[str]:
    found = pod.found
    path = f", {found.path}" if found.path and found.path not in _USUAL_PATHS else ""
    namespace = f", namespace {found.namespace}" if found.namespace else ""
    title = _printable(f"{found.place}{namespace}")
    yield from _title(title, _printable(f"({found.source}{path})"), pen)
    word, code = _WORDS[pod.outcome]
    yield from _verdict(pod, word, code, pen)
    yield from pen.lines("problem", pod.problems)
    if pod.threads_per_core is not None:
        yield from pen.lines("cpu", _table(pod.containers))
    yield from pen.lines("place", pod.placement)
    if pod.hold:
        yield from pen.lines("hold", [pod.hold], _WARN)
    if pod.nodes is not None:
        yield from pen.lines("nodes", _nodes(pod.nodes))
    yield from pen.lines("now", _now(pod.now))
    yield from pen.lines("patch", [_operation(dict(o)) for o in pod.patch])
    yield from pen.lines("warning", pod.warnings, _WARN)
    if pod.admission.called is False and pod.outcome is not Outcome.UNREADABLE:
        if pod.admission.reason != pod.reason:
            yield from pen.lines("warning", [pod.admission.reason], _WARN)
        if pod.admission.command:
            yield from pen.lines("", [f"to change that: {pod.admission.command}"])
    yield from pen.lines("note", found.notes)


_USUAL_PATHS = {"spec.template", "spec.jobTemplate.spec.template", "template"}


def _title(title: str, place: str, pen: _Pen) -> Iterator[str]:
    first, *rest = _wrapped(title, WIDTH)
    if not rest and len(first) + 1 + len(place) <= WIDTH:
        yield f"{pen.paint(first, _BOLD)} {place}"
        return
    yield pen.paint(first, _BOLD)
    yield from (pen.paint(line, _BOLD) for line in rest)
    yield from (f"  {line}" for line in _wrapped(place, WIDTH - 2))


def _verdict(pod: PodReport, word: str, code: str, pen: _Pen) -> Iterator[str]:
    if pod.reason:
        text = f"{word}: {pod.reason}"
    elif pod.threads_per_core is not None:
        text = f"{word}: {pod.qos}, {count(pod.threads_per_core, 'thread')} per core"
    else:
        text = f"{word}: the API server would refuse it"
    first, *rest = _wrapped(text, WIDTH - 2)
    yield "  " + pen.paint(word, code) + first.removeprefix(word)
    yield from (f"  {line}" for line in rest)


def _table(containers: tuple[ContainerReport, ...]) -> list[str]:
    """Put the containers below each other; names that are very long break the columns."""
    rows = []
    for container in containers:
        before = container.before or "none"
        amount = before if container.after == container.before else f"{before} → {container.after}"
        rows.append((_printable(container.name), amount, container.reason))
    name_width = min(max(len(name) for name, _, _ in rows), 30)
    amount_width = max(len(amount) for _, amount, _ in rows)
    return [
        f"{name.ljust(name_width)}  {amount.ljust(amount_width)}  {reason}".rstrip()
        for name, amount, reason in rows
    ]


def _nodes(nodes: NodesReport) -> Iterator[str]:
    others = sum(len(group.nodes) for group in nodes.others)
    total = len(nodes.fit) + len(nodes.may_fit) + others
    verb = "fits" if len(nodes.fit) == 1 else "fit"
    yield f"{len(nodes.fit)} of {total} {verb}{_some(nodes.fit)}"
    if nodes.may_fit:
        yield f"{len(nodes.may_fit)} may fit, nothing is known of their cores{_some(nodes.may_fit)}"
    for group in nodes.others:
        number = len(group.nodes)
        what = "not" if group.kept_off else "would reject it"
        yield f"{number} {what}: {group.reason}{_some(group.nodes)}"
    if nodes.rejected:
        yield f"rejected its like lately and not excluded{_some(nodes.rejected)}"


def _now(found: Iterable[Now]) -> Iterator[str]:
    """Say what kubelets would say, those together that say the same."""
    groups: dict[str, list[str]] = {}
    for one in found:
        groups.setdefault(_verdict_of(one.verdict), []).append(one.node)
    for said, nodes in groups.items():
        rest = len(nodes) - _SOME_NAMES
        more = f" and {rest} more" if rest > 0 else ""
        yield f"{', '.join(nodes[:_SOME_NAMES])}{more}: {said}"


def _verdict_of(verdict: Verdict) -> str:
    if isinstance(verdict, Refused):
        return f"would reject it: {verdict.reason}: {verdict.message}"
    if isinstance(verdict, Unsure):
        return f"not known: {verdict.why}"
    if not verdict.numa:
        return "would admit it"
    where = ", ".join(f"{cpus} CPUs on NUMA node {node}" for node, cpus in verdict.numa.items())
    free = "+".join(map(str, (verdict.free or {}).values()))
    left = f"; {free} CPUs left in whole cores" if verdict.free else ""
    return f"would admit it: {where}{left}"


def _some(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    rest = len(names) - _SOME_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    return f" ({', '.join(names[:_SOME_NAMES])}{more})"


def _operation(operation: dict[str, object]) -> str:
    """Write an operation on one line; -o json has it whole."""
    value = json.dumps(operation["value"], ensure_ascii=False)
    line = _printable(f"{operation['op']} {operation['path']} {value}")
    return line if len(line) <= WIDTH - _LABEL else f"{line[: WIDTH - _LABEL - 1]}…"


def _footer(report: Report, pen: _Pen) -> Iterator[str]:
    outcomes = Counter(pod.outcome for pod in report.pods)
    parts = [f"{outcomes[o]} {word}" for o, (word, _) in _WORDS.items() if outcomes[o]]
    text = f"{count(len(report.pods), 'pod')}: {', '.join(parts)}" if parts else "no pods found"
    if report.passed_over:
        text += f"; passed over: {_kinds(report)}"
    first, *rest = _wrapped(text, WIDTH)
    yield pen.paint(first, _BOLD)
    yield from rest
    for note in report.notes:
        yield from pen.lines("note", [note])


def _kinds(report: Report) -> str:
    kinds = Counter(one.kind for one in report.passed_over)
    return ", ".join(count(number, kind) for kind, number in sorted(kinds.items()))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        _printable(text), width, subsequent_indent="  ", break_on_hyphens=False
    ) or [""]


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)
