"""`evencore nodes`: options in, a table out. Decides nothing.

How a cluster is read is handed in by `evencore.admin`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import click

from evencore.files import InputError, read_dumps
from evencore.nodes.machine import to_dict
from evencore.nodes.objects import Objects
from evencore.nodes.report import Report, report
from evencore.nodes.text import render
from evencore.patience import Patience
from evencore.terminal import colour_wanted, fail

WRONG_INPUT: Final = 2

ReadNodes = Callable[[str | None, str | None, Callable[[object], None]], tuple[str, ...]]
"""Takes --kubeconfig and --context, and hands over each object as it comes; returns what could not
be read. Raises InputError."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What was written on the command line."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    kubeconfig: str | None
    context: str | None
    output: str


def make_nodes_command(
    read_cluster: ReadNodes, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> click.Command:
    """Make the command."""

    @click.command(epilog=_EPILOG)
    @click.argument("names", nargs=-1, metavar="[NAME]...")
    @click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        metavar="DUMP",
        help="Read dumps of kubectl get nodes,pods,events -A -o json instead of a cluster, and of "
        "noderesourcetopologies where it has them. - is stdin. Repeatable.",
    )
    @click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster.")
    @click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
    @click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "wide", "json"]),
        default="table",
        show_default=True,
        help="For people; the same with labels and what was learnt; for machines.",
    )
    def command(**written: Any) -> None:  # noqa: ANN401  click's names are the fields of _Options
        """Tell what is known of nodes, from whom, and what contradicts it.

        Labels are judged by the function that the controller labels nodes with.
        """
        options = _Options(**written)
        if options.files and (options.kubeconfig is not None or options.context is not None):
            raise click.UsageError("-f excludes --kubeconfig and --context")
        with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:
            try:
                found = _report(options, read_cluster, now, patience)
            except InputError as error:
                fail(error.problems)
        if options.output == "json":
            click.echo(json.dumps(to_dict(found), indent=2))
        else:
            text = render(found, colour=colour_wanted(), wide=options.output == "wide")
            click.echo(text, nl=False)

    command.name = "nodes"
    return command


_EPILOG = f"""\b
Columns:
  THREADS   per core; "?" behind it: nobody tells whether the kubelet
            checks alignment (full-pcpus-only); "free": it does not
  NUMA      CPUs of each NUMA node that can be given out exclusively
  LARGEST   CPUs that one container / one pod can ever be given
  IN USE    exclusive CPUs asked for by the pods there / of how many
  REJECTED  pods, in the last hour

\b
Examples:
  evencore nodes
  evencore nodes n1 n2 -o wide
  kubectl get nodes,pods,events -A -o json | evencore nodes -f -

Exit status: 0, whatever is wrong with the nodes; {WRONG_INPUT} for wrong usage, for nodes that are
not there and for a cluster or a file that cannot be read."""


def _report(
    options: _Options, read_cluster: ReadNodes, now: Callable[[], datetime], patience: Patience
) -> Report:
    """Read everything and tell of it. Raises InputError."""
    objects, notes = Objects(), tuple[str, ...]()
    if options.files:
        for document in read_dumps(options.files, progress=patience.reading):
            objects.take(document.value)
    else:
        patience.doing("reading the cluster")
        notes = read_cluster(options.kubeconfig, options.context, objects.take)
    unknown = [name for name in options.names if name not in objects.nodes]
    if unknown:
        raise InputError(f"there is no node {name}" for name in unknown)
    # A dump stands still, so what counts as lately is judged as of its newest rejection.
    moment = (objects.newest if options.files else None) or now()
    return report(objects, moment, options.names, notes)
