"""`evencore explain`: options in, report out. Decides nothing.

How a cluster is read is handed in, for only `evencore.cli` puts the parts together.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click
import yaml

from evencore.domain.policy import Policy, PolicyError
from evencore.explain import (
    Kubelets,
    Prepared,
    Report,
    explain,
    kubelets,
    prepare,
    render_text,
    to_dict,
)
from evencore.files import STDIN, Document, InputError, read_document, read_documents, read_dumps
from evencore.nodefiles.files import NodesFile, nodes_file
from evencore.patience import Patience
from evencore.standing.objects import Objects
from evencore.strict import FileError
from evencore.terminal import (
    WRONG_INPUT,
    colour_wanted,
    fail,
    manifest_namespace_option,
    policy_option,
)

T = TypeVar("T")

CHANGE: Final = 1  # with --fail-on-change

ReadCluster = Callable[[str | None, str | None], Iterable[object]]
"""Takes --kubeconfig and --context; returns what `kubectl get … -o json` would print of nodes,
namespaces, LimitRanges, NodeResourceTopologies, failed pods and Events of rejections, with numbers
that have a fraction as text. Raises InputError if it cannot."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What was written on the command line."""

    files: tuple[str, ...]
    nodes: tuple[str, ...]
    machines: str | None
    policy: str | None
    kubeconfig: str | None
    context: str | None
    namespace: str
    output: str
    fail_on_change: bool


def make_explain_command(
    read_cluster: ReadCluster | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> click.Command:
    """Make the command; without `read_cluster`, --kubeconfig and --context are refused."""

    @click.command(epilog=_EPILOG)
    @click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        required=True,
        metavar="FILE",
        help="Manifests, YAML or JSON: pods and whatever makes pods. - is stdin. Repeatable.",
    )
    @click.option(
        "--nodes",
        multiple=True,
        metavar="FILE",
        help="The cluster, from kubectl get nodes,namespaces,limitranges,pods,events -A -o json: "
        "any number of files with any of these, and NodeResourceTopologies. Failed pods and Events "
        "tell of rejections, running ones of what is free now. - is stdin. Repeatable.",
    )
    @click.option(
        "--machines",
        metavar="FILE",
        help="With --nodes: a node file that states machines and kubelet settings exactly.",
    )
    @policy_option
    @click.option("--kubeconfig", metavar="FILE", help="Read the cluster itself, not --nodes.")
    @click.option("--context", metavar="NAME", help="Same, and which context of the kubeconfig.")
    @manifest_namespace_option
    @click.option(
        "-o",
        "--output",
        type=click.Choice(["text", "json", "yaml"]),
        default="text",
        show_default=True,
        help="For people, or for machines, with all nodes and the whole patch.",
    )
    @click.option(
        "--fail-on-change",
        is_flag=True,
        help=f"Exit with {CHANGE} if a pod would be changed or denied; for pipelines.",
    )
    def command(**written: Any) -> None:  # noqa: ANN401  click's names are the fields of _Options
        """Tell what evencore would do to the pods of manifests, and why.

        Says of each pod what would change, where it can run and why not elsewhere. Nothing is
        sent to any cluster.
        """
        options = _Options(**written)
        with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:
            report = _report(options, read_cluster, now, patience)
            patience.doing("writing the report")
            _write(_rendered(report, options.output))
        if report.problems:
            fail(report.problems)
        if options.fail_on_change and any(pod.would_change for pod in report.pods):
            sys.exit(CHANGE)

    command.name = "explain"
    return command


_EPILOG = f"""\b
Examples:
  evencore explain -f web.yaml
  evencore explain -f web.yaml --nodes cluster.json -n shop
  helm template . | evencore explain -f - --fail-on-change

Exit status: 0 if all is well; {CHANGE} with --fail-on-change if a pod would be changed or denied;
{WRONG_INPUT} for wrong usage, files that cannot be read and pods with wrong values."""


def _report(
    options: _Options,
    read_cluster: ReadCluster | None,
    now: Callable[[], datetime],
    patience: Patience,
) -> Report:
    """Read everything and explain it. Ends the process with every problem if something is wrong."""
    prepared, policy, asked = _inputs(options, read_cluster, patience)
    patience.doing(f"explaining {len(prepared.manifests.pods)} pods")
    # A dump stands still, so its exclusions are judged as of its newest rejection.
    as_of = None if _live(options) else prepared.cluster.newest_rejection
    return explain(prepared.manifests, policy, prepared.cluster.snapshot, as_of or now(), asked)


def _live(options: _Options) -> bool:
    return options.kubeconfig is not None or options.context is not None


def _inputs(
    options: _Options, read_cluster: ReadCluster | None, patience: Patience
) -> tuple[Prepared, Policy, Kubelets]:
    """Read all that was named; ends the process with the problems of all of it."""
    _check(options, read_cluster)
    problems: list[str] = []

    def attempt(read: Callable[[], list[T]]) -> list[T]:
        try:
            return read()
        except (InputError, PolicyError, FileError) as error:
            problems.extend(str(error).splitlines())
            return []

    def cluster() -> list[object]:
        if read_cluster is None or not _live(options):
            dumps = read_dumps(options.nodes, progress=patience.reading)
            return [document.value for document in dumps]
        patience.doing("reading the cluster")
        return list(read_cluster(options.kubeconfig, options.context))

    manifests = attempt(lambda: _read(options.files, patience))
    known = attempt(cluster)
    policies = attempt(lambda: [_policy(options.policy, patience)])
    machines = attempt(lambda: _machines(options.machines))
    if problems:
        fail(problems)
    patience.doing("sorting what was read")
    documents = [(document.source, document.value) for document in manifests]
    settle = policies[0].rejections.after_kubelet_start
    # Of a live cluster only failed pods are read: nothing tells what is free there.
    asked = kubelets(Objects([] if _live(options) else known), *machines)
    return prepare(documents, known, options.namespace, settle), policies[0], asked


def _check(options: _Options, read_cluster: ReadCluster | None) -> None:
    """Refuse options that do not go together. Raises click.UsageError."""
    if options.machines is not None and not options.nodes:
        raise click.UsageError("--machines states what nodes of --nodes are")
    if _live(options) and options.nodes:
        raise click.UsageError("--nodes and --kubeconfig or --context exclude each other")
    if _live(options) and read_cluster is None:
        raise click.UsageError("reading a cluster is not available here; use --nodes")
    if [*options.files, *options.nodes, options.policy, options.machines].count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once: give - once")


def _read(files: Iterable[str], patience: Patience) -> list[Document]:
    return read_documents(files, progress=patience.reading)


def _policy(file: str | None, patience: Patience) -> Policy:
    if file is None:
        return Policy()
    return Policy.from_mapping(read_document(file, "a policy", patience.reading).value, file)


def _machines(file: str | None) -> list[NodesFile]:
    if file is None:
        return []
    return [nodes_file(read_document(file, "a node file").value, file)]


def _rendered(report: Report, output: str) -> str:
    if output == "text":
        return render_text(report, colour=colour_wanted())
    if output == "json":
        return json.dumps(to_dict(report), indent=2) + "\n"
    # allow_unicode off, as JSON's: what is odd in names is escaped.
    return yaml.dump(to_dict(report), Dumper=_Dumper, sort_keys=False, width=100)


class _Dumper(yaml.CSafeDumper):
    """Writes shared values out each time: an alias is right, but no help to a reader."""

    def ignore_aliases(self, data: object) -> bool:
        """Never make an alias."""
        del data
        return True


def _write(text: str) -> None:
    try:
        click.echo(text, nl=False)
    except OSError as error:
        if error.errno == errno.EPIPE:  # a reader that has seen enough: click knows what to do
            raise
        fail([f"the report cannot be written: {error.strerror}"])
