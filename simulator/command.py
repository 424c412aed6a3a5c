"""`evencore cluster`: a pocket cluster for people. Options in, a running cluster out.

Not for: what lives in it; that is `cluster`.
"""

from __future__ import annotations

import math
import re
import secrets
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

import click

from evencore.strict import FileError
from evencore.terminal import Group
from simulator.api.writes import ADMIN
from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.garbage import collect_rarely
from simulator.kubeconfig import refuse_foreign, written
from simulator.kubelet.presets import PRESETS, load
from simulator.scenario.command import run
from simulator.server import Options

WRONG_INPUT: Final = 2  # what click itself exits with on wrong usage
_FASTEST: Final = 1_000_000.0

_SERVICE: Final = re.compile(
    r"(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9-]+)=(?P<host>[^:=\s]+):(?P<port>[0-9]{1,5})"
)


class _Service(click.ParamType[tuple[tuple[str, str], tuple[str, int]]]):
    """A Service and where it is, for there is no network in a pocket cluster."""

    name = "service"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, str], tuple[str, int]]:
        """Read NAMESPACE/NAME=HOST:PORT."""
        match = _SERVICE.fullmatch(value)
        if match is None:
            self.fail(f"{value!r} is not NAMESPACE/NAME=HOST:PORT", param, ctx)
        return (match["namespace"], match["name"]), (match["host"], int(match["port"]))


@click.group(cls=Group)
def cluster() -> None:
    """Kubernetes, small enough to start in a second: to try, show and test without a cluster."""


cluster.add_command(run)


@cluster.command()
@click.option("--nodes", metavar="FILE", help="Node file (docs/pocket-cluster.md).")
@click.option(
    "--preset",
    type=click.Choice(sorted(PRESETS)),
    help="Nodes that come with it; autokh (default): 2 nodes of 2 sockets, 12 cores, 2 threads.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("pocket.kubeconfig"),
    show_default=True,
    help="Written for kubectl and others, removed at the end.",
)
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="Listen there; 0 takes any that is free.",
)
@click.option(
    "--speed",
    default=1.0,
    type=click.FloatRange(min=0, max=_FASTEST, min_open=True),
    show_default=True,
    help="How many times as fast as real time.",
)
@click.option("--seed", default=1, show_default=True, help="Same seed, same names and uids.")
@click.option(
    "--service",
    "services",
    type=_Service(),
    multiple=True,
    metavar="NAMESPACE/NAME=HOST:PORT",
    help="Where a Service is that a webhook configuration names. Repeatable.",
)
@click.option(
    "--rbac",
    is_flag=True,
    help="Allow what roles and bindings say: the kubeconfig is an admin's, and kubectl --as "
    "tries others. Without it everybody may everything.",
)
def up(  # noqa: PLR0913, PLR0917  the options of the command
    nodes: str | None,
    preset: str | None,
    kubeconfig: Path,
    port: int,
    speed: float,
    seed: int,
    services: tuple[tuple[tuple[str, str], tuple[str, int]], ...],
    *,
    rbac: bool,
) -> None:
    """Start one on this machine's loopback; it ends with Ctrl-C and leaves nothing behind."""
    if nodes and preset:
        raise click.UsageError("--nodes and --preset exclude each other")
    if math.isnan(speed):
        raise click.UsageError("--speed is no number")
    refuse_foreign(kubeconfig)
    try:
        machines = load(nodes) if nodes else PRESETS[preset or "autokh"]
    except FileError as error:
        for line in str(error).splitlines():
            click.echo(f"evencore: {line}", err=True)
        sys.exit(WRONG_INPUT)
    collect_rarely()
    started, stop = time.perf_counter(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    # Without RBAC nobody is asked who they are.
    token = secrets.token_urlsafe() if rbac else ""
    options = Options(
        clock=Clock.real(speed),
        seed=seed,
        port=port,
        services=dict(services),
        tokens={token: ADMIN} if rbac else None,
        rbac=rbac,
    )
    try:
        with (
            Cluster(machines, options) as running,
            written(kubeconfig, running.server.kubeconfig(token)),
        ):
            took = time.perf_counter() - started
            click.echo(f"{running.server.url} started in {took:.2f} s")
            click.echo(f"try: kubectl --kubeconfig {kubeconfig} get nodes")
            stop.wait()
    except OSError as error:  # a port that is taken, a directory that is not there
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"evencore: {where}{error.strerror or error}", err=True)
        sys.exit(WRONG_INPUT)
