"""`evencore cluster run`: a scenario file in, what happened out. Decides nothing."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from evencore.strict import FileError
from evencore.terminal import INTERRUPTED
from simulator.cluster import Cluster
from simulator.kubeconfig import refuse_foreign, written
from simulator.scenario import report, verdict
from simulator.scenario.player import Player, options_of
from simulator.scenario.progress import Progress
from simulator.scenario.reading import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.scenario.player import Entry, Outcome

UNMET: Final = 1
WRONG_INPUT: Final = 2  # what click itself exits with on wrong usage

_EPILOG = f"""\b
Exit status: 0 if all went as the file expects; {UNMET} if not, or if the cluster refused a step;
{WRONG_INPUT} for a wrong file; {INTERRUPTED} after Ctrl-C, which tells what happened until then."""


@click.command(epilog=_EPILOG)
@click.argument("file", metavar="SCENARIO.yaml")
@click.option("--seed", type=int, help="In place of the file's: same seed, same output.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people as it happens, or for machines at the end.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Written for kubectl and others who want to take part, removed at the end; the clock "
    "should be real then.",
)
def run(file: str, seed: int | None, output: str, kubeconfig: Path | None) -> None:
    """Play a scenario in a pocket cluster and tell what happened."""
    if kubeconfig is not None:
        refuse_foreign(kubeconfig)
    try:
        scenario = load(file)
    except FileError as error:
        for line in str(error).splitlines():
            _say(line)
        sys.exit(WRONG_INPUT)
    if seed is not None:
        scenario = scenario.with_seed(seed)
    show = _for_machines if output == "json" else _for_people
    outcome, unmet = show(scenario, kubeconfig)
    for line in unmet:
        _say(line)
    if outcome.interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(UNMET if unmet else 0)


def _for_people(scenario: Scenario, kubeconfig: Path | None) -> tuple[Outcome, list[str]]:
    click.echo(report.head(scenario))
    progress = Progress(_say)

    def tell(entry: Entry) -> None:
        click.echo(report.line(entry))
        progress.told()

    outcome, unmet = _play(scenario, kubeconfig, tell, progress)
    end = "interrupted; no expectation is looked at" if outcome.interrupted else "end"
    click.echo(f"{report.moment(outcome.seconds):>7}  {end}\n\n{report.summary(outcome)}")
    return outcome, unmet


def _for_machines(scenario: Scenario, kubeconfig: Path | None) -> tuple[Outcome, list[str]]:
    entries: list[Entry] = []
    outcome, unmet = _play(scenario, kubeconfig, entries.append, Progress(_say))
    click.echo(json.dumps(report.to_dict(scenario, entries, outcome, unmet), indent=2))
    return outcome, unmet


def _say(text: str) -> None:
    click.echo(f"evencore: {report.plain(text)}", err=True)


def _play(
    scenario: Scenario,
    kubeconfig: Path | None,
    tell: Callable[[Entry], None],
    progress: Progress,
) -> tuple[Outcome, list[str]]:
    file = scenario.file

    def reached(seconds: float) -> None:
        progress.at(f"at {report.moment(seconds)} of {report.moment(file.lasts)} ...")

    options = options_of(scenario, secure=kubeconfig is not None)
    with Cluster(file.machines(), options) as cluster, ExitStack() as stack:
        if kubeconfig is not None:
            stack.enter_context(written(kubeconfig, cluster.server.kubeconfig()))
        outcome = Player(scenario, cluster, tell, reached).play()
    expected = () if outcome.interrupted else file.expect
    return outcome, list(verdict.disappointments(expected, outcome))
