"""`evencore controller`: options in, one controller out."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from controller import wiring
from controller.certificates import aims_of
from controller.probes import create_app, serve
from evencore import logs, metrics
from evencore.flags import load, said
from evencore.kube.client import connect
from evencore.kube.errors import KubeError
from evencore.kube.writer import NAME
from evencore.lasting import collect_seldom
from evencore.policy_file import read_policy
from evencore.processes import all_of, common_options
from evencore.settings import ControllerSettings
from evencore.terminal import fail


@click.command(
    epilog="Exit status: 0 after SIGTERM; 1 if it lost its Lease; 2 for wrong usage or settings."
)
@click.option(
    "--bind", metavar="ADDRESS:PORT", help="Where health and metrics are.  [default: 0.0.0.0:8080]"
)
@click.option(
    "--lease", metavar="NAME", help="Lease to contend for.  [default: evencore-controller]"
)
@click.option(
    "--identity", metavar="NAME", help="Who holds the Lease.  [default: host name and a random id]"
)
@click.option("--workers", metavar="N", help="Threads that write.  [default: 4]")
@click.option(
    "--writes-per-second", metavar="N", help="Writes to the API server, at most.  [default: 20]"
)
@click.option("--write-burst", metavar="N", help="Writes at once, after a rest.  [default: 40]")
@click.option(
    "--certs",
    metavar="WHO",
    help="Who makes the webhook's certificates: self or external.  [default: self]",
)
@click.option(
    "--cert-secret",
    metavar="NAME",
    help="Secret of the certificates.  [default: evencore-webhook-tls]",
)
@click.option(
    "--webhook-configuration",
    metavar="NAME",
    help="Configuration that trusts them.  [default: evencore]",
)
@click.option(
    "--webhook-service", metavar="NAME", help="Service they are for.  [default: evencore-webhook]"
)
@click.option(
    "--cert-names", multiple=True, metavar="NAME", help="More names they are for. Repeatable."
)
@click.option("--ca-life", metavar="TIME", help="Life of an authority.  [default: 8760h]")
@click.option("--cert-life", metavar="TIME", help="Life of a certificate.  [default: 720h]")
@click.option(
    "--cert-spread", metavar="TIME", help="Until everybody has heard of a write.  [default: 60s]"
)
@click.option(
    "--cert-overlap",
    metavar="TIME",
    help="How long an old authority stays trusted.  [default: 24h]",
)
@common_options
def controller(**flags: Any) -> None:  # noqa: ANN401  click hands over whatever was written
    """Break the loop: hold, let go, clean up and tell.

    Several may run; one works, the others wait. Every option has an environment variable,
    EVENCORE_ and its name: --lease is EVENCORE_LEASE. Unknown ones are errors.
    """
    settings, wrong = load(ControllerSettings, flags)
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig else None
    policy, client, _ = all_of(
        lambda: read_policy(settings),
        lambda: connect(kubeconfig, settings.context, agent=NAME),
        # Defaults may contradict what was given with them.
        lambda: wrong or aims_of(settings),
        # Of ValueErrors: PolicyError, InputError and those of the certificates' times.
        raising=(ValueError, KubeError),
        wrong=wrong,
    )
    logs.set_up(settings.log_level, settings.log_format)
    logs.logger().info("starting", settings=settings.as_written(), policy=policy.as_written())
    collect_seldom()
    made = wiring.controller(client, settings, policy)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: made.stop())
    host, _, port = settings.bind.rpartition(":")
    try:
        serve(create_app(made.waiting, metrics.page), host, int(port))
    except OSError as error:
        fail([f"{said('bind')}: {settings.bind}: {error.strerror}"])
    if not made.run():
        sys.exit(1)
