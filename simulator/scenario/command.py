"""`evencore cluster run`: a scenario file in, what happened out. Decides nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from evencore.patience import Patience
from simulator.cluster import Cluster
from simulator.scenario import report, verdict
from simulator.scenario.player import Player, options_of
from simulator.scenario.reading import Scenario, load
from simulator.strict import FileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.scenario.player import Entry, Outcome

UNMET: Final = 1
WRONG_INPUT: Final = 2  # what click itself exits with on wrong usage
INTERRUPTED: Final = 130

_EPILOG = f"""\b
Exit status: 0 if all went as the file expects; {UNMET} if not, or if the cluster refused a step;
{WRONG_INPUT} for a wrong file."""


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
    help="Written for kubectl and others who want to take part; the clock should be real then.",
)
def run(file: str, seed: int | None, output: str, kubeconfig: Path | None) -> None:
    """Play a scenario in a pocket cluster and tell what happened."""
    try:
        scenario = load(file)
    except FileError as error:
        for line in str(error).splitlines():
            click.echo(f"evencore: {line}", err=True)
        sys.exit(WRONG_INPUT)
    if seed is not None:
        scenario = scenario.with_seed(seed)
    show = _for_machines if output == "json" else _for_people
    outcome, unmet = show(scenario, kubeconfig)
    for line in unmet:
        click.echo(f"evencore: {line}", err=True)
    if outcome.interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(UNMET if unmet else 0)


def _for_people(scenario: Scenario, kubeconfig: Path | None) -> tuple[Outcome, list[str]]:
    click.echo(report.head(scenario))
    outcome, unmet = _play(scenario, kubeconfig, lambda entry: click.echo(report.line(entry)))
    click.echo(f"{report.moment(outcome.seconds):>7}  end\n\n{report.summary(outcome)}")
    return outcome, unmet


def _for_machines(scenario: Scenario, kubeconfig: Path | None) -> tuple[Outcome, list[str]]:
    entries: list[Entry] = []
    end = report.moment(scenario.file.lasts)
    with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:

        def note(entry: Entry) -> None:
            entries.append(entry)
            patience.doing(f"playing, at {report.moment(entry.at)} of {end}")

        outcome, unmet = _play(scenario, kubeconfig, note)
    click.echo(json.dumps(report.to_dict(scenario, entries, outcome, unmet), indent=2))
    return outcome, unmet


def _play(
    scenario: Scenario, kubeconfig: Path | None, tell: Callable[[Entry], None]
) -> tuple[Outcome, list[str]]:
    options = options_of(scenario, secure=kubeconfig is not None)
    with Cluster(scenario.file.machines(), options) as cluster:
        if kubeconfig is not None:
            kubeconfig.write_text(cluster.server.kubeconfig())
        outcome = Player(scenario, cluster, tell).play()
    expected = () if outcome.interrupted else scenario.file.expect
    return outcome, list(verdict.disappointments(expected, outcome))
