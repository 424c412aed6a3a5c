"""`evencore rejections`: options in, tables out. Decides nothing.

How a cluster is read, followed and written to is handed in by `evencore.cli`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import click

from evencore.domain.policy import Policy, PolicyError
from evencore.files import InputError, read_document, read_dumps
from evencore.patience import Patience
from evencore.rejections.listing import RejectedPod, rejected_pods
from evencore.rejections.machine import pods_to_dict, to_dict
from evencore.rejections.objects import Objects, Sorter, objects_of
from evencore.rejections.picture import newest_time
from evencore.rejections.report import report
from evencore.rejections.text import one_line_each, render, render_pods
from evencore.rejections_options import Options, check, with_options
from evencore.tables import printable
from evencore.terminal import WRONG_INPUT, colour_wanted, fail, is_terminal

NOT_ALL_DELETED: Final = 1

PAUSE_S: Final = 0.5
"""Between two pictures of --watch: a loop changes things a hundred times a second."""
CLEAR: Final = "\x1b[H\x1b[2J"
STILL_S: Final = 5.0
"""Time alone changes what comes next, too."""

Read = Callable[[str | None, str | None, str | None, Callable[[object], None]], tuple[str, ...]]
"""Takes --kubeconfig, --context and --namespace, and hands over each object as it comes; returns
what could not be read. Raises InputError."""

Delete = Callable[[str | None, str | None, Iterable[RejectedPod]], Iterator[str | None]]
"""Deletes pods by uid, one after the other; yields for each None, or why it is still there."""


class Live(Protocol):
    """A cluster that is followed."""

    def objects(self) -> Objects:
        """Return what there is now."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for a change."""


Follow = Callable[[str | None, str | None, str | None], AbstractContextManager[Live]]


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach one."""

    read: Read
    follow: Follow
    delete: Delete


def make_rejections_command(
    cluster: Cluster, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> click.Command:
    """Make the command."""

    @click.command(epilog=_EPILOG)
    @with_options
    def command(**written: Any) -> None:  # noqa: ANN401  click's names are the fields of Options
        """Tell whose pods kubelets reject, what evencore did about it, and what comes next.

        What comes next is told by the functions that webhook and controller decide with.
        """
        options = Options(**written)
        check(options)
        policy = _policy(options.policy)
        try:
            if options.watch:
                _watch(options, policy, cluster, now)
            else:
                sys.exit(_once(options, policy, cluster, now))
        except InputError as error:
            fail(error.problems)

    command.name = "rejections"
    return command


_EPILOG = f"""\b
Examples:
  evencore rejections
  evencore rejections -n shop --watch
  evencore rejections --pods --node n1
  evencore rejections --delete-rejected --older-than 2h --yes

Exit status: 0 if all is well; {NOT_ALL_DELETED} if a pod could not be deleted;
{WRONG_INPUT} for wrong usage and for a cluster or a file that cannot be read.
Ctrl-C ends --watch with 0."""


def _policy(file: str | None) -> Policy:
    if file is None:
        return Policy()
    try:
        return Policy.from_mapping(read_document(file, "a policy").value, file)
    except (InputError, PolicyError) as error:
        fail(str(error).splitlines())


def _once(options: Options, policy: Policy, cluster: Cluster, now: Callable[[], datetime]) -> int:
    with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:
        objects, notes = _objects(options, cluster, patience)
        moment = (newest_time(objects) if options.files else None) or now()
        if options.delete_rejected and not options.files:
            return _delete(options, objects, moment, cluster, patience)
        if options.pods or options.delete_rejected:
            pods = rejected_pods(objects.failed, moment, options.filter)
            if options.output == "json":
                _echo(json.dumps(pods_to_dict(pods, moment), indent=2) + "\n")
            else:
                _echo(render_pods(pods, moment, colour=colour_wanted()))
            return 0
        found = report(objects, policy, moment, options.namespace, notes)
        if options.output == "json":
            _echo(json.dumps(to_dict(found), indent=2) + "\n")
        else:
            _echo(render(found, colour=colour_wanted(), wide=options.output == "wide"))
        return 0


def _objects(
    options: Options, cluster: Cluster, patience: Patience
) -> tuple[Objects, tuple[str, ...]]:
    if options.files:
        read = read_dumps(options.files, progress=patience.reading)
        return objects_of(document.value for document in read), ()
    patience.doing("reading the cluster")
    sorter = Sorter()
    notes = cluster.read(options.kubeconfig, options.context, options.namespace, sorter.take)
    return sorter.objects, notes


def _delete(
    options: Options, objects: Objects, now: datetime, cluster: Cluster, patience: Patience
) -> int:
    """Delete what is meant and may go, or say what that would be."""
    meant = rejected_pods(objects.failed, now, options.filter)
    pods = [pod for pod in meant if pod.kept is None]
    kept = [printable(f"kept {p.namespace}/{p.name}: {p.kept}") for p in meant if p.kept]
    if not options.yes:
        _echo(render_pods(pods, now, colour=colour_wanted()))
        _echo("".join(f"{line}\n" for line in kept))
        _echo("Nothing was deleted: add --yes to delete these pods.\n" if pods else "")
        return 0
    patience.doing(f"deleting {len(pods)} pods")
    left = 0
    for pod, why in zip(
        pods, cluster.delete(options.kubeconfig, options.context, pods), strict=True
    ):
        name = printable(f"{pod.namespace}/{pod.name}")
        if why is None:
            _echo(f"deleted {name}\n")
        else:
            left += 1
            click.echo(f"evencore: {name} was not deleted: {printable(why)}", err=True)
    _echo("".join(f"{line}\n" for line in kept))
    place = f" in namespace {options.namespace}" if options.namespace else ""
    _echo(f"{len(pods) - left} deleted{place}, {left} could not be, {len(kept)} kept\n")
    return NOT_ALL_DELETED if left else 0


def _watch(options: Options, policy: Policy, cluster: Cluster, now: Callable[[], datetime]) -> None:
    """Show the report again whenever it changes, until Ctrl-C."""
    wide, screen, before = options.output == "wide", is_terminal(), list[str]()
    try:
        with cluster.follow(options.kubeconfig, options.context, options.namespace) as live:
            while True:
                began = time.monotonic()
                found = report(live.objects(), policy, now(), options.namespace)
                lines = one_line_each(found)
                if screen and lines != before:
                    _echo(CLEAR + render(found, colour=colour_wanted(), wide=wide))
                elif not screen:
                    _echo("".join(f"{line}\n" for line in lines if line not in before))
                before, took_s = lines, time.monotonic() - began
                if live.wait(STILL_S):
                    time.sleep(max(PAUSE_S, took_s))  # half of a core at most
    except KeyboardInterrupt:
        return


def _echo(text: str) -> None:
    click.echo(text, nl=False)
