"""`evencore uninstall`: takes away what evencore has left in a cluster. Decides nothing.

How a cluster is read and written to is handed in by `evencore.admin`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Protocol

import click

from evencore.domain.text import count
from evencore.files import InputError
from evencore.patience import Patience
from evencore.tables import printable
from evencore.terminal import WRONG_INPUT, fail

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_ALL_DONE: Final = 1


class Undo(Protocol):
    """Undoes what was done to a cluster, or only says what that would be."""

    def __call__(
        self, kubeconfig: str | None, context: str | None, *, do: bool
    ) -> Iterator[tuple[str, str | None]]:
        """Yield each step in words, and why it could not be done, if so.

        Raises InputError if the cluster cannot be read.
        """


def make_uninstall_command(undo: Undo) -> click.Command:
    """Make the command."""

    @click.command(epilog=_EPILOG)
    @click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster.")
    @click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
    @click.option(
        "--yes/--dry-run", default=False, help="Do it; or only say what would be done, as without."
    )
    def command(*, kubeconfig: str | None, context: str | None, yes: bool) -> None:
        """Take evencore's webhook, gates, and labels of nodes out of a cluster.

        In this order, so that no pod is held when nobody is left to let it go. What people wrote
        stays. Delete evencore's own namespace after it.
        """
        done = left = 0
        with Patience(lambda text: click.echo(f"evencore: {text}", err=True)) as patience:
            patience.doing("reading the cluster")
            try:
                for step, why_not in undo(kubeconfig, context, do=yes):
                    says = printable(step)
                    if why_not is None:
                        done += 1
                        click.echo(says)
                    else:
                        left += 1
                        click.echo(f"evencore: {says}: not done: {printable(why_not)}", err=True)
            except InputError as error:
                fail(error.problems)
        if not done and not left:
            click.echo("Nothing of evencore is left in this cluster.")
        elif not yes:
            click.echo("Nothing was done: add --yes to do this.")
        elif left:
            click.echo(f"Done but for {count(left, 'step')}.")
        else:
            click.echo(f"Done: {count(done, 'step')}.")
        sys.exit(NOT_ALL_DONE if left else 0)

    command.name = "uninstall"
    return command


_EPILOG = f"""\b
Stop the controller first, or it labels the nodes again:
  kubectl -n evencore-system scale deployment/evencore-controller --replicas=0
  evencore uninstall --yes

Exit status: 0 if all is done; {NOT_ALL_DONE} if something could not be: run it again;
{WRONG_INPUT} for wrong usage and for a cluster that cannot be read."""
