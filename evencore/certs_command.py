"""`evencore certs`: options in, a table or files out. The plan decides, the keeper does.

How a cluster is reached is handed in by `evencore.admin`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from certs import rotation
from certs.files import Volume
from certs.keeper import Keeper, Seen
from certs.pem import AUTHORITIES, CERTIFICATE, KEY, Pair
from certs.status import Status, aims_of, status_of, to_dict
from evencore.certs_text import render
from evencore.files import InputError
from evencore.terminal import WRONG_INPUT, Group, colour_wanted, fail

NOT_WELL: Final = 1
_TRIES: Final = 5

Open = Callable[..., AbstractContextManager[Callable[..., Keeper]]]
"""Takes --kubeconfig, --context, --namespace, --secret and --configuration; gives what makes a
keeper from Aims. Raises InputError."""

_named: Final = partial(click.option, metavar="NAME", show_default=True)
_WHERE: Final = (
    click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster."),
    click.option("--context", metavar="NAME", help="Context of the kubeconfig."),
    _named("-n", "--namespace", default="evencore-system", help="Our own namespace."),
    _named("--secret", default="evencore-webhook-tls", help="Secret of the certificates."),
    _named("--configuration", default="evencore", help="Configuration that trusts them."),
    _named("--service", default="evencore-webhook", help="Service they are for."),
)


def make_certs_command(
    open_cluster: Open, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> click.Command:
    """Make the commands."""

    @click.group(cls=Group)
    def command() -> None:
        """Look at the webhook's certificates, renew them, write them to files."""

    @command.command(epilog=_STATUS)
    @_everywhere
    @click.option(
        "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
    )
    def status(output: str, **where: str) -> None:
        """Tell how the certificates are, who is trusted, and what comes next and why."""
        found = _with(open_cluster, where, lambda make: _status(make, where, now()))
        if output == "json":
            click.echo(json.dumps(to_dict(found, now()), indent=2))
        else:
            click.echo(render(found, colour=colour_wanted()), nl=False)
        if found.state == "broken":
            sys.exit(NOT_WELL)

    @command.command(epilog=_ROTATE)
    @_everywhere
    @click.option("--ca", is_flag=True, help="A new authority as well.")
    def rotate(*, ca: bool, **where: str) -> None:
        """Renew the serving certificate, or begin to replace its authority, before it is time."""
        why = _with(open_cluster, where, lambda make: _rotate(make, where, now, ca=ca))
        if why:
            click.echo(f"evencore: {why}", err=True)
            sys.exit(NOT_WELL)

    @command.command(epilog=_EXPORT)
    @_everywhere
    @click.option("--directory", type=Path, metavar="DIR", help="Write tls.crt and tls.key too.")
    def export(directory: Path | None, **where: str) -> None:
        """Print the authorities to trust (PEM), or write them with certificate and key to files."""
        found = _with(open_cluster, where, lambda make: _status(make, where, now()))
        _export(found, directory)

    command.name = "certs"
    return command


def _export(found: Status, directory: Path | None) -> None:
    """Write what others need: never the key of the authority."""
    data = found.seen.secret.data
    if found.seen.held.leaf is None:
        click.echo(f"evencore: {found.problems[0]}", err=True)
        sys.exit(NOT_WELL)
    if directory is None:
        click.echo(data.get(AUTHORITIES, b""), nl=False)
        return
    try:
        Volume(directory).write(Pair(data[CERTIFICATE], data[KEY]))
        (directory / AUTHORITIES).write_bytes(data.get(AUTHORITIES, b""))
    except OSError as error:
        fail([f"--directory: {error.filename}: {error.strerror}"])


def _everywhere(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where the certificates are."""
    for option in reversed(_WHERE):
        command = option(command)
    return command


def _with(open_cluster: Open, where: dict[str, str], work: Callable[[Any], Any]) -> Any:  # noqa: ANN401  what `work` returns
    names = ("kubeconfig", "context", "namespace", "secret", "configuration")
    try:
        with open_cluster(*(where[name] for name in names)) as make:
            return work(make)
    except InputError as error:
        fail(error.problems)


def _look(keeper: Keeper) -> Seen:
    seen = keeper.look()
    if isinstance(seen, str):
        raise InputError([seen])
    return seen


def _service(where: dict[str, str]) -> str:
    return f"{where['service']}.{where['namespace']}.svc"


def _status(make: Callable[..., Keeper], where: dict[str, str], now: datetime) -> Status:
    seen = _look(make(None, None))
    return status_of(seen, aims_of(seen, _service(where)), now)


def _rotate(
    make: Callable[..., Keeper], where: dict[str, str], now: Callable[[], datetime], *, ca: bool
) -> str:
    """Do what was asked for; says why not."""
    seen = _look(make(None, None))
    keeper = make(aims_of(seen, _service(where)), _tell)
    said: Status | None = None
    for _ in range(_TRIES):
        seen = _look(keeper)
        said = status_of(seen, aims_of(seen, _service(where)), now())
        step = _asked(said, ca=ca)
        if isinstance(step, str):
            return step
        if keeper.carry_out(step, seen) == 0.0:
            if ca:
                keeper.step()  # it is trusted at once; all the rest takes its time
                click.echo(
                    "the controller goes on: once everybody has heard of it, the new authority "
                    "signs; the old one is dropped after the overlap (evencore certs status)"
                )
            return ""
    return "it was not written: see above, or somebody else writes all the time"


def _asked(said: Status, *, ca: bool) -> rotation.Step | str:
    """Choose the step that was asked for; a sentence if this is not the moment."""
    held = said.seen.held
    if said.state == "external":
        return said.next
    if said.problems or held.signing is None:
        return f"the controller has to repair this first: {'; '.join(said.problems) or said.next}"
    if len(held.authorities) > 1:
        return f"a rotation is under way: {said.next}"
    why = "asked for by evencore certs rotate"
    if ca:
        return rotation.MakeAuthority(why, held.authorities, leaf=False)
    return rotation.IssueLeaf(why)


def _tell(_: str, reason: str, message: str, *, warning: bool = False) -> None:
    click.echo(f"{reason}: {message}", err=warning)


_STATUS = f"""\b
States:
  good      renewed when it is time
  rotating  all is well, and a step is to come
  external  all is well, and somebody else looks after it
  broken    API servers do not call the webhook; the lines below say why

Exit status: 0; {NOT_WELL} if it is broken; {WRONG_INPUT} for wrong usage and for a cluster that
cannot be read."""
_ROTATE = f"""\b
With --ca: the new authority is trusted at once, beside the old one, and signs later; the
controller goes on from there. Admissions never fail for it.

Exit status: 0 if it was done; {NOT_WELL} if this is not the moment, with the reason;
{WRONG_INPUT} for wrong usage and for a cluster that cannot be read."""
_EXPORT = f"""\b
The authority's own key is never written.

Exit status: 0; {NOT_WELL} if there is no certificate; {WRONG_INPUT} for wrong usage and for a
cluster that cannot be read."""
