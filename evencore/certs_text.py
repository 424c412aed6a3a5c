"""`evencore certs status` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certs.facts import stamp
from evencore.tables import GREEN, RED, YELLOW, Pen, Row, printable, table

if TYPE_CHECKING:
    from certs.facts import Certificate
    from certs.status import Status

_COLOURS: Final = {"good": GREEN, "external": GREEN, "rotating": YELLOW, "broken": RED}


def render(status: Status, *, colour: bool) -> str:
    """Write it; lines end in a newline."""
    pen, held = Pen(colour), status.seen.held
    lines = [pen.paint(status.state, _COLOURS[status.state]) + f": {printable(status.next)}"]
    lines += [f"  {printable(problem)}" for problem in status.problems]
    rows = []
    if held.leaf is not None:
        rows.append(_row("serving", held.leaf.certificate, ", ".join(sorted(held.leaf.names))))
    for one in held.authorities:
        what = "signs" if one is held.signing else "still trusted"
        rows.append(_row("authority", one, f"{one.name}: {what}"))
    if rows:
        lines += ["", *table(["CERTIFICATE", "MADE", "RENEWAL", "EXPIRES", "NAME"], rows, pen)]
    hooks = [
        Row([hook.name, "; ".join(_trusts(hook.trusted, hook.problem)), entry.selector])
        for hook, entry in zip(status.seen.published.hooks, status.seen.hooks.entries, strict=True)
    ]
    if hooks:
        lines += ["", *table(["WEBHOOK", "TRUSTS", "NAMESPACES"], hooks, pen)]
    return "".join(f"{line}\n" for line in lines)


def _row(kind: str, one: Certificate, name: str) -> Row:
    return Row([kind, stamp(one.made), stamp(one.renewal), stamp(one.expires), name])


def _trusts(trusted: tuple[Certificate, ...], problem: str) -> list[str]:
    return [*(one.name for one in trusted), *([problem] if problem else [])] or ["nobody"]
