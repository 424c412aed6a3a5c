"""Command line: `python -m tests.bench.scale --help`."""

import json
import os
import signal
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from tests.bench import newsflash
from tests.bench.cores import choose_cores
from tests.bench.errors import BenchError
from tests.bench.progress import clear, note
from tests.bench.report import columns
from tests.bench.stats import percentile

from . import answering, controlling
from .figures import Figure, rows
from .processes import Size, site

LARGE = Size(nodes=5000, pods=100_000, rejected=2000)
SMALL = Size(nodes=500, pods=10_000, rejected=200)
"""A tenth: what grows faster than the cluster shows."""

_BUSY = 0.5
"""Load average at the start above which others want the cores, too."""

_NEWS = "from a rejection on the wire to the webhook heeding it, p99"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured."""

    sizes: tuple[Size, ...] = (SMALL, LARGE)
    control: controlling.Amounts = field(default_factory=controlling.Amounts)
    answer: answering.Amounts = field(default_factory=answering.Amounts)
    rejections: int = 100


QUICK = Plan(
    control=controlling.Amounts(rounds=1, events=2000, held=200),
    answer=answering.Amounts(rounds=2),
    rejections=30,
)


def run(plan: Plan) -> list[Figure]:
    """Measure everything. Raises BenchError."""
    found = []
    for size in plan.sizes:
        with tempfile.TemporaryDirectory(prefix="evencore-bench-") as name:
            note(f"{size}: starting")
            with site(Path(name), size) as where:
                found += controlling.measure(where, plan.control)
                found += answering.measure(where, plan.answer)
    if plan.rejections:
        heeded, _ = newsflash.measure(plan.rejections)
        millis = percentile(heeded, 0.99) * 1e3
        limit = newsflash.AIM_SECONDS * 1e3
        last = str(plan.sizes[-1])
        found.append(Figure(what=_NEWS, size=last, value=millis, unit="ms", limit=limit))
    clear()
    return found


def text(plan: Plan, figures: list[Figure]) -> str:
    """Return the report for people."""
    sizes = [str(size) for size in plan.sizes]
    head = ["", *(f"{size.nodes:,} nodes" for size in plan.sizes), "", "yards", "limit", ""]
    found = rows(figures, sizes)
    # Columns are told apart by their heads.
    named = [name or " " * number for number, name in enumerate(head, 1)]
    table = columns(named, found, left={named[0], named[-4], named[-1]})
    return f"{'; '.join(sizes)}\nyards: in calls of json.loads with a pod, for the largest\n{table}"


def data(figures: list[Figure]) -> dict[str, object]:
    """Return the report for machines."""
    return {"figures": [{**asdict(figure), "met": figure.met} for figure in figures]}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer rounds, about two minutes: for a first look.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
def main(*, quick: bool, output: str) -> None:
    """Measure controller and webhook with 500 and 5,000 nodes, 10,000 and 100,000 pods.

    Takes about five minutes, and a machine that has nothing else to do.
    """
    plan, wanted = QUICK if quick else Plan(), os.getloadavg()[0]
    if not choose_cores().pinned:
        raise click.ClickException("it reads /proc and pins processes to cores: it needs Linux")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the processes
    try:
        figures = run(plan)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    if output == "json":
        click.echo(json.dumps({"load_average": wanted, **data(figures)}, indent=1))
        return
    click.echo(text(plan, figures))
    if wanted > _BUSY:
        click.echo(
            f"The machine was busy with something else (load {wanted:.1f}): only memory is to be "
            "trusted, and processor time in yards. Wall times and p99 say nothing, met or not."
        )


if __name__ == "__main__":
    main()
