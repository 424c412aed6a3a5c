"""What may be written after `evencore rejections`, and what goes together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import click

from evencore.rejections.listing import Filter
from evencore.terminal import Age, policy_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Options:
    """What was written on the command line."""

    kubeconfig: str | None
    context: str | None
    files: tuple[str, ...]
    namespace: str | None
    policy: str | None
    output: str
    watch: bool
    pods: bool
    delete_rejected: bool
    node: str | None
    owner: str | None
    reason: str | None
    older_than: timedelta | None
    yes: bool

    @property
    def filter(self) -> Filter:
        """Which rejected pods are meant."""
        return Filter(self.namespace, self.node, self.owner, self.reason, self.older_than)


_OPTIONS: Final = (
    click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster."),
    click.option("--context", metavar="NAME", help="Context of the kubeconfig."),
    click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        metavar="DUMP",
        help="Read dumps of kubectl get pods,events,nodes,namespaces -A -o json instead of a "
        "cluster, as of the newest thing in them. - is stdin. Repeatable.",
    ),
    click.option("-n", "--namespace", metavar="NAME", help="Only this one.  [default: all]"),
    policy_option,
    click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "wide", "json"]),
        default="table",
        show_default=True,
        help="For people; the same with every sentence and no line broken; for machines.",
    ),
    click.option("--watch", is_flag=True, help="Follow the cluster until Ctrl-C."),
    click.option("--pods", is_flag=True, help="List the rejected pods one by one."),
    click.option(
        "--delete-rejected",
        is_flag=True,
        help="Delete rejected pods of ReplicaSets, ReplicationControllers, StatefulSets and "
        "DaemonSets. Without --yes it only lists them.",
    ),
    click.option("--node", metavar="NAME", help="Only pods that this node rejected."),
    click.option("--owner", metavar="[KIND/]NAME", help="Only pods of this owner."),
    click.option("--reason", metavar="REASON", help="Only pods of this reason."),
    click.option("--older-than", type=Age(), metavar="AGE", help="Only older ones: 90m, 2h, 3d."),
    click.option("--yes", is_flag=True, help="Do delete."),
)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options, which are the fields of Options."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def check(options: Options) -> None:
    """Refuse options that do not go together. Raises click.UsageError."""
    live = options.kubeconfig is not None or options.context is not None
    filters = (options.node, options.owner, options.reason, options.older_than)
    if options.files and (live or options.watch):
        raise click.UsageError("-f excludes --kubeconfig, --context and --watch")
    if options.files and options.yes:
        raise click.UsageError("a dump has nothing to delete: leave -f or --yes out")
    if options.watch and (options.pods or options.delete_rejected or options.output == "json"):
        raise click.UsageError("--watch shows tables of owners alone")
    if any(filters) and not (options.pods or options.delete_rejected):
        raise click.UsageError(
            "--node, --owner, --reason and --older-than choose pods: add --pods or "
            "--delete-rejected"
        )
    if options.yes and not options.delete_rejected:
        raise click.UsageError("--yes goes with --delete-rejected")
