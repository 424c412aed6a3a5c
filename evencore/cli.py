"""The command line, and with `*_wiring` the composition root: only here are parts put together.

Each command imports what it needs when it runs, so `evencore --help` is quick and a process pays
only for what it uses.
"""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from evencore.explain_command import make_explain_command
from evencore.terminal import Group, fail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from webhook.gunicorn_conf import Served
    from webhook.probes import Check

FILE = click.Path(dir_okay=False)
_KUBECONFIG = "How to reach the cluster.  [default: in-cluster, else as kubectl]"


_FOR_ADMINS = ("certs", "doctor", "nodes", "rejections", "simulate", "uninstall")


class _Commands(Group):
    """Imports the pocket cluster, and the commands of admins, only for who asks for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        return sorted([*super().list_commands(ctx), "cluster", *_FOR_ADMINS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command by its name."""
        if cmd_name == "cluster":
            from simulator.command import cluster

            return cluster
        if cmd_name in _FOR_ADMINS:
            from evencore.admin import COMMANDS

            return COMMANDS[cmd_name]
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="evencore")
def main() -> None:
    """Kubernetes pods that pin CPUs get pinned, and rejected pods no longer loop."""


@main.command(epilog="Exit status: 0 after SIGTERM; 2 for wrong usage or settings.")
@click.option(
    "--bind",
    multiple=True,
    metavar="ADDRESS:PORT",
    help="Where to listen. Repeatable.  [default: 0.0.0.0:8443]",
)
@click.option("--tls-cert", type=FILE, help="Serving certificate (PEM), watched for changes.")
@click.option("--tls-key", type=FILE, help="Its key (PEM).")
@click.option(
    "--cert-secret",
    metavar="NAME",
    help="Serve what this Secret of our namespace holds, instead of files.",
)
@click.option(
    "--cert-directory",
    metavar="DIR",
    help="Where that is written.  [default: a new one, in memory]",
)
@click.option("--policy", type=FILE, help="Policy file (YAML); the same for both processes.")
@click.option(
    "--snapshot",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Answer from dumps of `kubectl get nodes,namespaces,limitranges,pods -A -o json` "
    "(noderesourcetopologies as well, where they exist) instead of a cluster. Repeatable.",
)
@click.option("--kubeconfig", type=FILE, help=_KUBECONFIG)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option(
    "--namespace",
    metavar="NAME",
    help="Our own namespace, which never takes part.  [default: evencore-system]",
)
@click.option("--workers", metavar="N", help="Processes that answer.  [default: 1]")
@click.option(
    "--drain-seconds", metavar="S", help="Seconds of service as before after SIGTERM.  [default: 5]"
)
@click.option(
    "--closing-seconds", metavar="S", help="Then, seconds to give up connections.  [default: 5]"
)
@click.option(
    "--log-level", metavar="LEVEL", help="debug, info, warning or error.  [default: info]"
)
@click.option("--log-format", metavar="FORMAT", help="auto, console or json.  [default: auto]")
def webhook(**flags: Any) -> None:  # noqa: ANN401  click hands over whatever was written
    """Serve the admission webhook.

    Every option has an environment variable, EVENCORE_ and its name: --tls-cert is
    EVENCORE_TLS_CERT. Unknown ones are errors.
    """
    from evencore import logs
    from evencore import webhook_wiring as wiring
    from evencore.flags import load
    from evencore.policy_file import read_policy
    from evencore.settings import WebhookSettings
    from webhook.gunicorn_conf import Server

    settings, wrong = load(WebhookSettings, flags)
    policy, _, make_source = _all(
        lambda: read_policy(settings),
        lambda: wiring.check_certificate(settings),
        lambda: wiring.source_factory(settings),
        wrong=wrong,
    )
    serving = wiring.serving(settings)
    logs.set_up(settings.log_level, settings.log_format)
    log = logs.logger()
    log.info("starting", settings=settings.model_dump(mode="json"), policy=policy.as_written())
    (followed,) = _all(lambda: wiring.follow(settings))
    if followed is not None:
        volume = followed.volume
        serving = replace(serving, certificate=volume.certificate, key=volume.key)
    if serving.certificate is None:
        log.warning("serving plain HTTP: API servers call webhooks over HTTPS only")
    checks: dict[str, Check] = {}
    follower = followed.follower if followed else None

    def serve() -> Served:
        """Put one worker together: this runs after the fork."""
        if follower is not None:
            follower.start()
        return wiring.serve(policy, make_source(policy), checks)

    server = Server(serving, serve)
    if follower is not None:
        checks["certificate"] = wiring.served_certificate(follower, server)
    server.run()


@main.command(
    epilog="Exit status: 0 after SIGTERM; 1 if it lost its Lease; 2 for wrong usage or settings."
)
@click.option(
    "--bind", metavar="ADDRESS:PORT", help="Where health and metrics are.  [default: 0.0.0.0:8080]"
)
@click.option(
    "--policy", type=FILE, metavar="FILE", help="Policy file (YAML); the same for both processes."
)
@click.option("--kubeconfig", type=FILE, help=_KUBECONFIG)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option(
    "--namespace",
    metavar="NAME",
    help="Our own namespace, where the Lease is.  [default: evencore-system]",
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
@click.option(
    "--log-level", metavar="LEVEL", help="debug, info, warning or error.  [default: info]"
)
@click.option("--log-format", metavar="FORMAT", help="auto, console or json.  [default: auto]")
def controller(**flags: Any) -> None:  # noqa: ANN401  click hands over whatever was written
    """Break the loop: hold, let go, clean up and tell.

    Several may run; one works, the others wait. Every option has an environment variable,
    EVENCORE_ and its name: --lease is EVENCORE_LEASE. Unknown ones are errors.
    """
    from controller import wiring
    from controller.certificates import aims_of
    from controller.probes import create_app, serve
    from evencore import logs, metrics
    from evencore.flags import load, said
    from evencore.kube.client import connect
    from evencore.kube.writer import NAME
    from evencore.policy_file import read_policy
    from evencore.settings import ControllerSettings

    settings, wrong = load(ControllerSettings, flags)
    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig else None
    policy, client, _ = _all(
        lambda: read_policy(settings),
        lambda: connect(kubeconfig, settings.context, agent=NAME),
        # Defaults may contradict what was given with them.
        lambda: wrong or aims_of(settings),
        wrong=wrong,
    )
    logs.set_up(settings.log_level, settings.log_format)
    logs.logger().info(
        "starting", settings=settings.model_dump(mode="json"), policy=policy.as_written()
    )
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


def _all(*steps: Callable[[], Any], wrong: Iterable[str] = ()) -> list[Any]:
    """Return what all steps return; ends the process with the problems of all that fail.

    `wrong`: problems that are known before.
    """
    from evencore.kube.errors import KubeError
    from webhook.tls import CertificateError

    results, problems = [], list(wrong)
    for step in steps:
        try:
            results.append(step())
        # Of ValueErrors: PolicyError, InputError and those of the certificates' times.
        except (ValueError, KubeError, CertificateError) as error:
            problems += str(error).splitlines()
    if problems:
        fail(problems)
    return results


def _read_cluster(kubeconfig: str | None, context: str | None) -> list[dict[str, Any]]:
    """Read once what decisions look at. Raises InputError, as for a file that cannot be read."""
    from evencore.files import InputError
    from evencore.kube.client import connect
    from evencore.kube.dump import dump
    from evencore.kube.errors import KubeError

    try:
        with closing(connect(kubeconfig, context)) as client:
            return list(dump(client))
    except KubeError as error:
        raise InputError([str(error)]) from error


main.add_command(make_explain_command(_read_cluster))
