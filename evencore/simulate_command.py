"""`evencore simulate`: options in, tables out. Decides nothing."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from evencore.domain.policy import Policy, PolicyError
from evencore.explain import Prepared, prepare
from evencore.files import STDIN, InputError, read_document, read_documents, read_dumps
from evencore.nodefiles.files import NodesFile, nodes_file
from evencore.patience import Patience
from evencore.simulation.machine import to_dict
from evencore.simulation.placing import Outcome
from evencore.simulation.report import Question, Report, Wanted, simulate
from evencore.simulation.text import render
from evencore.standing.asked import problems_of
from evencore.standing.objects import Objects
from evencore.strict import FileError
from evencore.terminal import (
    WRONG_INPUT,
    colour_wanted,
    fail,
    manifest_namespace_option,
    policy_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_ALL_ADMITTED: Final = 1


class _With(NamedTuple):
    """A manifest, and how many pods to make of each template in it; None: as many as it says."""

    file: str
    copies: int | None


class _WithType(click.ParamType[_With]):
    """FILE or FILE=COUNT."""

    name = "file[=count]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> _With:
        """Read it."""
        if isinstance(value, _With):
            return value
        file, equals, number = str(value).rpartition("=")
        if not equals:
            return _With(str(value), None)
        if not re.fullmatch(r"[0-9]{1,5}", number) or not file:
            self.fail(f"{value!a}: write FILE or FILE=COUNT, such as pod.yaml=20", param, ctx)
        return _With(file, int(number))


@dataclass(frozen=True, slots=True)
class _Options:
    """What was written on the command line."""

    files: tuple[str, ...]
    additions: tuple[_With, ...]
    plain: bool
    machines: str | None
    policy: str | None
    namespace: str
    output: str


def make_simulate_command(
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> click.Command:
    """Make the command."""

    @click.command(epilog=_EPILOG)
    @click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        required=True,
        metavar="DUMP",
        help="The cluster, from kubectl get nodes,pods,namespaces,limitranges -A -o json, and "
        "noderesourcetopologies where it has them. - is stdin. Repeatable.",
    )
    @click.option(
        "--with",
        "additions",
        type=_WithType(),
        multiple=True,
        metavar="FILE[=COUNT]",
        help="Manifests to add: pods and whatever makes pods; as many pods as they say, or COUNT "
        "of each. Repeatable.",
    )
    @click.option("--plain", is_flag=True, help="As in a cluster without evencore.")
    @click.option(
        "--machines",
        metavar="FILE",
        help="A node file that states machines and kubelet settings of nodes exactly.",
    )
    @policy_option
    @manifest_namespace_option
    @click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "wide", "json"]),
        default="table",
        show_default=True,
        help="For people; the same with every node; for machines, with every pod.",
    )
    def command(**written: Any) -> None:  # noqa: ANN401  click's names are the fields of _Options
        """Tell what would be admitted where, what would loop, and which cores are stranded.

        Pods of the dump that have no node yet, then those of --with, go through webhook, scheduler
        and kubelet, one after the other. Nothing is sent to any cluster.
        """
        options = _Options(**written)
        _check(options)
        with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:
            report = _report(options, now, patience)
            patience.doing("writing the report")
            if options.output == "json":
                click.echo(json.dumps(to_dict(report), indent=2))
            else:
                wide = options.output == "wide"
                click.echo(render(report, colour=colour_wanted(), wide=wide), nl=False)
        if report.outcomes.keys() - {Outcome.ADMITTED}:
            sys.exit(NOT_ALL_ADMITTED)

    command.name = "simulate"
    return command


_EPILOG = f"""\b
Examples:
  evencore simulate -f dump.json --with pod.yaml=20
  evencore simulate -f dump.json --with web.yaml --with db.yaml -n shop
  evencore simulate -f dump.json --with pod.yaml=20 --plain --machines nodes.yaml

\b
Columns:
  BECOME      admitted; loops: rejected, and so is the next; rejected;
              held, pending, denied, unknown
  FREE CPUS   of whole cores, by NUMA node, before → after
  STRANDED    of these, of no use to containers of the sizes that were placed

Exit status: 0 if every pod would be admitted; {NOT_ALL_ADMITTED} if one would not, or if it is not
known; {WRONG_INPUT} for wrong usage and for files that cannot be read."""


def _check(options: _Options) -> None:
    """Refuse options that do not go together. Raises click.UsageError."""
    added = [one.file for one in options.additions]
    if [*options.files, *added, options.policy, options.machines].count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once: give - once")
    twice = sorted({file for file in added if added.count(file) > 1})
    if twice:
        raise click.UsageError(f"--with {twice[0]} is given more than once: say FILE=COUNT")


def _report(options: _Options, now: Callable[[], datetime], patience: Patience) -> Report:
    """Read everything and play it through. Ends the process with every problem there is."""
    problems: list[str] = []

    def attempt(read: Callable[[], Any]) -> Any:  # noqa: ANN401  whatever `read` gives
        try:
            return read()
        except (InputError, PolicyError, FileError) as error:
            problems.extend(str(error).splitlines())
            return None

    dumps = attempt(lambda: [one.value for one in read_dumps(options.files, patience.reading)])
    policy = attempt(lambda: _policy(options.policy))
    machines = attempt(lambda: _machines(options.machines))
    added = [
        (one.copies, attempt(partial(read_documents, [one.file], progress=patience.reading)))
        for one in options.additions
    ]
    if problems:
        fail(problems)
    patience.doing("sorting what was read")
    # All at once: Namespaces and LimitRanges in one file count for the others.
    documents = [(document.source, document.value) for _, read in added for document in read]
    prepared: Prepared = prepare(
        documents, dumps, options.namespace, policy.rejections.after_kubelet_start
    )
    copies = {document.source.file: number for number, read in added for document in read}
    wanted = _wanted(prepared, copies)
    wrong = (
        f"{one.source}: {one.place}: {problem}"
        for one in prepared.manifests.pods
        for problem in problems_of(one.pod)
    )
    if found := (*prepared.manifests.problems, *wrong):
        fail(found)
    objects = Objects(dumps)
    if not objects.nodes:
        fail(["there is no node in the dump: make one with kubectl get nodes,pods -A -o json"])
    question = Question(
        objects,
        wanted,
        prepared.cluster.snapshot,
        policy,
        # A dump stands still, so exclusions are judged as of its newest rejection.
        prepared.cluster.newest_rejection or now(),
        not options.plain,
        machines,
    )
    return simulate(question, patience.doing)


def _wanted(prepared: Prepared, copies: dict[str, int | None]) -> list[Wanted]:
    found = []
    for one in prepared.manifests.pods:
        asked = copies[one.source.file]
        found.append(Wanted(one, one.copies if asked is None else asked))
    return found


def _policy(file: str | None) -> Policy:
    if file is None:
        return Policy()
    return Policy.from_mapping(read_document(file, "a policy").value, file)


def _machines(file: str | None) -> NodesFile | None:
    if file is None:
        return None
    return nodes_file(read_document(file, "a node file").value, file)
