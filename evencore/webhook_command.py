"""`evencore webhook`: options in, a server out.

What only a worker needs is imported after the fork (`webhook_wiring`): the process that watches
over workers stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
from msgspec.structs import replace

from evencore import logs
from evencore import webhook_wiring as wiring
from evencore.flags import load
from evencore.kube.errors import KubeError
from evencore.policy_file import read_policy
from evencore.processes import FILE, all_of, common_options
from evencore.settings import WebhookSettings
from webhook.gunicorn_conf import Server
from webhook.tls import CertificateError

if TYPE_CHECKING:
    from webhook.gunicorn_conf import Served
    from webhook.probes import Check

# Of ValueErrors: PolicyError and InputError.
_RAISING: Final = (ValueError, KubeError, CertificateError)


@click.command(epilog="Exit status: 0 after SIGTERM; 2 for wrong usage or settings.")
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
@click.option(
    "--snapshot",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Answer from dumps of `kubectl get nodes,namespaces,limitranges,pods -A -o json` "
    "(noderesourcetopologies as well, where they exist) instead of a cluster. Repeatable.",
)
@click.option("--workers", metavar="N", help="Processes that answer.  [default: 1]")
@click.option(
    "--drain-seconds", metavar="S", help="Seconds of service as before after SIGTERM.  [default: 5]"
)
@click.option(
    "--closing-seconds", metavar="S", help="Then, seconds to give up connections.  [default: 5]"
)
@common_options
def webhook(**flags: Any) -> None:  # noqa: ANN401  click hands over whatever was written
    """Serve the admission webhook.

    Every option has an environment variable, EVENCORE_ and its name: --tls-cert is
    EVENCORE_TLS_CERT. Unknown ones are errors.
    """
    settings, wrong = load(WebhookSettings, flags)
    policy, certificate, make_source = all_of(
        lambda: read_policy(settings),
        lambda: wiring.read_certificate(settings),
        lambda: wiring.source_factory(settings),
        raising=_RAISING,
        wrong=wrong,
    )
    serving = wiring.serving(settings)
    logs.set_up(settings.log_level, settings.log_format)
    log = logs.logger()
    log.info("starting", settings=settings.as_written(), policy=policy.as_written())
    (followed,) = all_of(lambda: wiring.follow(settings), raising=_RAISING)
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
        from evencore.webhook_worker import serve as serve_from  # noqa: PLC0415  see the top

        source = make_source(policy)
        served = serve_from(policy, source, checks, lambda: follower.ends if follower else None)
        if follower is not None:
            follower.provide()  # last: the Secret is read meanwhile
        return served

    server = Server(serving, serve, certificate)
    if follower is not None:
        checks["certificate"] = wiring.served_certificate(follower, server)
    server.run()
