"""What is seen of the demo, in words. Pure.

For: the table of both clusters, what was promised, and what an admin reads. Not for: where it is
written, or how often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.text import count
from evencore.tables import BOLD, DIM, GREEN, RED, WIDTH, YELLOW, Pen, printable, wrapped
from simulator.demo.worlds import Row
from simulator.objects import dig
from simulator.scenario.ledger import Workload
from simulator.scenario.report import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simulator.demo.worlds import Said
    from simulator.objects import Object
    from simulator.scenario.model import Expectation
    from simulator.scenario.player import Outcome
    from simulator.scenario.reading import Scenario
    from simulator.scenario.values import Range

PLAIN: Final = "plain"
OURS: Final = "with evencore"

WIDE: Final = 80
"""Columns of a terminal that the table needs."""

Rows = dict[Workload, Row]


class Asked(NamedTuple):
    """A workload of the story, what each of its pods asks for, and what it is promised."""

    workload: Workload
    cpus: str
    promise: str = ""


def asked(scenario: Scenario) -> list[Asked]:
    """List the workloads in the order in which they appear."""
    promises = {
        Workload(one.workload.resource.kind, one.namespace, one.workload.name): promised(one)
        for one in scenario.file.expect
        if one.workload is not None
    }
    found = []
    for number, step in enumerate(scenario.file.steps):
        for manifest in scenario.manifests.get(number, ()):
            namespace = dig(manifest, "metadata", "namespace") or step.namespace
            workload = Workload(manifest["kind"], namespace, manifest["metadata"]["name"])
            found.append(Asked(workload, _cpus(manifest), promises.get(workload, "")))
    return found


def _cpus(manifest: Object) -> str:
    """Write what a workload asks for: 3 x 14 for three pods of 14 CPUs."""
    pods = dig(manifest, "spec", "replicas") or 1
    containers = dig(manifest, "spec", "template", "spec", "containers") or ()
    cpus = " + ".join(str(dig(one, "resources", "limits", "cpu")) for one in containers)
    return cpus if pods == 1 else f"{pods} x {cpus}"


def promised(expected: Expectation) -> str:
    """Write an expectation in the words of the table."""
    words = {"rejected": "failed", "running": "running"}
    amounts = expected.amounts().items()
    return ", ".join(f"{_amount(wanted)} {words.get(name, name)}" for name, wanted in amounts)


def _amount(wanted: Range) -> str:
    if wanted.most is None:
        return f"≥ {wanted.least}"
    if wanted.least == wanted.most:
        return str(wanted.most)
    return f"≤ {wanted.most}" if wanted.least == 0 else f"{wanted.least}-{wanted.most}"


def table(
    workloads: Sequence[Asked],
    plain: Rows,
    ours: Rows,
    pen: Pen,
    broken: Iterable[Workload] | None = None,
) -> Iterator[str]:
    """Yield the lines of both clusters side by side.

    With the promises if it is known whose are broken.
    """
    name = max(len("workload"), *(len(one.workload.name) for one in workloads))
    cpus = max(len("CPUs"), *(len(one.cpus) for one in workloads))
    left = name + cpus + 4
    promises = "" if broken is None else "   promised"
    yield pen.paint(f"{'':{left}}{PLAIN:<18}{OURS}", BOLD)
    columns = "failed  running   failed  held  running"
    yield pen.paint(f"{'workload':{name}}  {'CPUs':{cpus}}  {columns}{promises}", BOLD)
    for one in workloads:
        before, after = plain.get(one.workload, Row()), ours.get(one.workload, Row())
        line = (
            f"{one.workload.name:{name}}  {one.cpus:{cpus}}  "
            + pen.paint(f"{before.failed:6}", RED if before.failed else DIM)
            + pen.paint(f"{before.running:9}", GREEN if before.running else DIM)
            + pen.paint(f"{after.failed:9}", YELLOW if after.failed else DIM)
            + pen.paint(f"{after.held:6}", YELLOW if after.held else DIM)
            + pen.paint(f"{after.running:9}", GREEN if after.running else DIM)
        )
        if broken is not None:
            kept = one.workload not in broken
            mark = pen.paint("kept", GREEN) if kept else pen.paint("BROKEN", RED)
            line += f"   {one.promise}: {mark}" if one.promise else ""
        yield line


def totals(seconds: float, plain: Rows, ours: Rows) -> str:
    """Sum up both clusters in a line."""
    return f"{moment(seconds):>7}  {PLAIN}: {_total(plain)}; {OURS}: {_total(ours)}"


def _total(rows: Rows) -> str:
    total = Row(*map(sum, zip(*rows.values(), strict=True)))
    held = f"{total.held} held, " if total.held else ""
    return f"{total.failed} failed, {held}{total.running} running"


def rates(seconds: float, plain: Rows, ours: Rows) -> str:
    """Compare how many pods were rejected."""
    before, after = (sum(row.failed for row in rows.values()) for rows in (plain, ours))
    return (
        f"In {seconds:.0f} s kubelets rejected {count(before, 'pod')} in the plain cluster, "
        f"{before * 60 / seconds:.0f} a minute; with evencore {after}."
    )


def warnings(outcome: Outcome, pen: Pen) -> Iterator[str]:
    """Yield the Warning Events of the plain cluster, folded."""
    for source, warned in outcome.warnings.items():
        head = f"  {source.reason} x{warned.times}"
        yield f"{pen.paint(head, RED)}  {source.component}: {printable(warned.first)}"


def events(told: Iterable[Said], pen: Pen) -> Iterator[str]:
    """Yield what evencore told an admin of workloads."""
    for said in told:
        times = f" x{said.times}" if said.times > 1 else ""
        colour = YELLOW if said.warning else GREEN
        yield f"  {pen.paint(said.reason, colour)}{times}  {printable(said.about)}"
        for line in wrapped(printable(said.message), WIDTH - 6):
            yield f"      {line}"
