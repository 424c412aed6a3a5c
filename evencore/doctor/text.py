"""What the doctor says, for people: one finding after the other, each with its remedy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evencore.doctor.finding import Severity
from evencore.domain.text import count
from evencore.tables import BOLD, DIM, GREEN, RED, WIDTH, YELLOW, Pen, printable, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.doctor.finding import Finding
    from evencore.doctor.report import Report

_COLOURS: Final = {
    Severity.ERROR: RED,
    Severity.WARNING: YELLOW,
    Severity.UNKNOWN: YELLOW,
    Severity.NOTE: DIM,
}
_INDENT: Final = "  "
_SOME: Final = 3
"""Findings of one kind that are shown; -o json has all."""


def render(report: Report, *, colour: bool) -> str:
    """Write the report, with ANSI colours only if `colour`."""
    pen = Pen(colour)
    lines: list[str] = []
    shown = Counter[str]()
    total = Counter(finding.id for finding in report.findings)
    for finding in report.findings:
        shown[finding.id] += 1
        if shown[finding.id] <= _SOME:
            lines += _finding(finding, pen)
        if shown[finding.id] == _SOME < total[finding.id]:
            lines += [f"{_INDENT}and {total[finding.id] - _SOME} more like this: -o json", ""]
    return "\n".join([*lines, *_summary(report, pen)]) + "\n"


def _finding(finding: Finding, pen: Pen) -> Iterator[str]:
    word = finding.severity.value
    title = f" {printable(finding.object)} ({finding.id})"
    yield pen.paint(word, _COLOURS[finding.severity]) + pen.paint(title, BOLD)
    yield from (_INDENT + line for line in wrapped(printable(finding.text), WIDTH - len(_INDENT)))
    yield f"{_INDENT}$ {printable(finding.remedy)}"  # never broken: it is to be copied
    yield ""


def _summary(report: Report, pen: Pen) -> Iterator[str]:
    found = Counter(finding.severity for finding in report.findings)
    bad = [
        count(found[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
        if found[severity]
    ]
    if found[Severity.UNKNOWN]:
        bad.append(f"{found[Severity.UNKNOWN]} unknown")
    done = count(report.checked, "check")
    called = {
        True: "the webhook is called",
        False: "the webhook is NOT called",
        None: "whether the webhook is called is not known",
    }[report.called]
    word, code = (("healthy", GREEN), ("not healthy", RED), ("unknown", YELLOW))[report.status]
    parts = ", ".join(["", *bad])
    yield f"{pen.paint(word, code)}: {done}{parts}; {called}"
    names = report.participants
    if names:
        more = f" and {len(names) - _SOME} more" if len(names) > _SOME else ""
        some = printable(", ".join(names[:_SOME]))
        yield f"taking part: {count(len(names), 'namespace')}: {some}{more}"
