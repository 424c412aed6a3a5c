"""Command line of the benchmark: `python -m tests.bench --help`."""

import json
import platform
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from . import agree, gobuild, report, servers
from .certificate import make_certificate
from .cores import Cores, choose_cores
from .errors import BenchError
from .measure import Figures, load_process, measure
from .plan import QUICK, Plan
from .progress import clear, note
from .reviews import SIZES
from .servers import EVENCORE, FLASK, GO, NAMES, Place
from .snapshot import REJECTIONS, write_snapshot

Facts = dict[str, str]
"""What -> how it is told, in this order."""


class Listed(click.ParamType):
    """Several values with commas between them, each one of a few or of a type."""

    def __init__(self, each: click.ParamType) -> None:
        self.each, self.name = each, "list"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Any, ...]:  # noqa: ANN401 - click's own signature
        if isinstance(value, tuple):
            return value
        return tuple(self.each.convert(part.strip(), param, ctx) for part in value.split(","))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="One short round, about 45 s: for a first look.")
@click.option("--rounds", type=click.IntRange(1), help="Rounds of the closed loop.  [default: 5]")
@click.option(
    "--sizes", type=Listed(click.Choice(list(SIZES))), help="KB.  [default: 4.7,6,20,200]"
)
@click.option("--connections", type=Listed(click.IntRange(1, 1000)), help="[default: 1,8,64]")
@click.option(
    "--servers", "names", type=Listed(click.Choice(NAMES)), help="[default: evencore,go,flask]"
)
@click.option("--subject", default="", help="Another evencore, e.g. that of another checkout.")
@click.option("--nodes", type=click.IntRange(0), default=5000, show_default=True)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
def main(
    *,
    quick: bool,
    names: tuple[str, ...] | None,
    subject: str,
    nodes: int,
    output: str,
    **wishes: Any,  # noqa: ANN401 - rounds, sizes, connections: fields of Plan, if given
) -> None:
    """Measure the webhook beside two yardsticks in the same run.

    Prints ratios first: trust them, not the microseconds. Takes about 4 minutes.
    """
    plan = replace(QUICK if quick else Plan(), **{k: v for k, v in wishes.items() if v})
    chosen = [name for name in NAMES if name in (names or NAMES)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the servers
    try:
        facts, figures = run(plan, chosen, subject, nodes)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    if output == "json":
        click.echo(json.dumps(report.data(facts, figures), indent=1))
    else:
        click.echo(report.text(facts, figures))


def run(plan: Plan, names: list[str], subject: str, nodes: int) -> tuple[Facts, Figures]:
    """Start the servers, see that they agree, measure, and end them."""
    with ExitStack() as stack:
        stack.callback(clear)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evencore-bench-")))
        place = Place(directory, make_certificate(directory), choose_cores())
        write_snapshot(place.snapshot, nodes)
        started = []
        for name in names:
            note(f"starting {name}")
            port = servers.free_port()
            command = _command(name, subject, port, place)
            started.append(stack.enter_context(servers.running(name, command, port, place)))
        sizes = [SIZES[size] for size in plan.sizes]
        operations = {s.name: agree.operations_of(s, place, sizes) for s in started}
        load = stack.enter_context(load_process(place))
        figures = measure(plan.points(), started, load)
    facts = _facts(names, place.cores)
    if EVENCORE in names:
        facts["nodes"] = f"{nodes:,} nodes, {REJECTIONS:,} rejections"
    facts["rounds"] = f"{plan.rounds} x {plan.seconds} s"
    counts = ", ".join(f"{count} by {name}" for name, count in operations.items())
    facts["operations"] = f"patch operations: {counts}"
    return facts, figures


def _command(name: str, subject: str, port: int, place: Place) -> list[str]:
    """Return the command line of a server."""
    match name:
        case servers.GO:
            return servers.go_command(gobuild.build(place.directory), port, place)
        case servers.FLASK:
            return servers.flask_command(port, place)
    return servers.subject_command(subject, port, place)


def _facts(names: list[str], cores: Cores) -> Facts:
    """Return what one must know of the machine to read the figures."""
    where = f"server on {cores.server}, load on {cores.load}" if cores.pinned else "not pinned"
    if cores.count == 1:
        where = "server and load share it: latencies mix both"
    facts = {
        "cores": f"{cores.count} core{'s' * (cores.count > 1)} ({where})",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "gunicorn": f"gunicorn {version('gunicorn')}",
    }
    if GO in names:
        facts["go"] = gobuild.version()
    if FLASK in names:
        facts["flask"] = f"Flask {version('flask')}"
    return facts


if __name__ == "__main__":
    main()
