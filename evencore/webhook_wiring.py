"""The webhook's processes, put together: for `evencore webhook`, as `controller.wiring` is.

For: where its certificate and its picture of the cluster come from, checked before anything serves.
What only a worker needs is imported after the fork, what only some webhooks need by those.
Not for: what it was told on the command line (`webhook_command`), nor a worker (`webhook_worker`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from evencore.policy_file import given_as
from webhook.gunicorn_conf import Serving
from webhook.tls import CertificateFiles, CurrentContext

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from certs.follower import Follower
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.kube.client import Client
    from evencore.kube.snapshots import LiveSnapshot
    from evencore.settings import WebhookSettings
    from evencore.webhook_certificate import Followed
    from webhook.gunicorn_conf import Server
    from webhook.probes import Check


def serving(settings: WebhookSettings) -> Serving:
    """Tell how to serve."""
    return Serving(
        bind=settings.bind,
        certificate=settings.tls_cert,
        key=settings.tls_key,
        workers=settings.workers,
        drain_seconds=settings.drain_seconds,
        closing_seconds=settings.closing_seconds,
    )


def follow(settings: WebhookSettings) -> Followed | None:
    """Prepare to serve what a Secret holds, if that is wanted. Raises NoConfiguration, ValueError.

    Its client is made by the worker's thread.
    """
    if settings.cert_secret is None:
        return None
    from evencore.webhook_certificate import follow as follow_secret

    return follow_secret(
        _connecting(settings), settings.namespace, settings.cert_secret, settings.cert_directory
    )


def read_certificate(settings: WebhookSettings) -> CurrentContext | None:
    """Read the files, if there are any to begin with. Raises CertificateError.

    Here, for in a worker gunicorn would show a traceback.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return CurrentContext(CertificateFiles(settings.tls_cert, settings.tls_key))


def source_factory(settings: WebhookSettings) -> Callable[[Policy], Source]:
    """Choose where the snapshot comes from.

    Files and kubeconfig are read at once, so that errors show early. Raises InputError and
    NoConfiguration.
    """
    if settings.snapshot:
        return _from_files(settings.snapshot)
    return _from_cluster(settings)


class Source:
    """Where decisions get their snapshot and their clock from, and whether it is complete."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        now: Callable[[], datetime],
        missing: Callable[[], str | None] = lambda: None,
        start: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self.snapshot = snapshot
        self.now = now
        self.missing = missing
        self.start = start
        self.stop = stop


def _clock() -> datetime:
    return datetime.now(UTC)


def _from_files(paths: tuple[Path, ...]) -> Callable[[Policy], Source]:
    from evencore.files import read_dumps

    with given_as("snapshot"):
        documents = [document.value for document in read_dumps([str(path) for path in paths])]

    def start(policy: Policy) -> Source:
        from evencore.domain.collect import collect

        collected = collect(documents, policy.rejections.after_kubelet_start)
        for problem in collected.problems:
            click.echo(f"evencore: {problem}; ignored", err=True)
        if not collected.snapshot.nodes.facts:
            click.echo("evencore: the dumps hold no nodes, so nothing is known of any", err=True)
        # A dump stands still: what was excluded when it was made is excluded for ever.
        frozen = collected.newest_rejection
        return Source(lambda: collected.snapshot, (lambda: frozen) if frozen else _clock)

    return start


def _from_cluster(settings: WebhookSettings) -> Callable[[Policy], Source]:
    connect = _connecting(settings)

    def make(policy: Policy) -> Source:
        from evencore.webhook_picture import Picture

        def live() -> LiveSnapshot:
            from evencore.kube.snapshots import LiveSnapshot

            return LiveSnapshot(connect(), policy)

        picture = Picture(live)
        return Source(picture, _clock, picture.missing, picture.start, picture.stop)

    return make


def _connecting(settings: WebhookSettings) -> Callable[[], Client]:
    """Find out how to reach the cluster, and return what makes a client for it.

    Raises NoConfiguration. What speaks to an API server is imported by whom the client is for.
    """
    from evencore.kube import configuration

    kubeconfig = str(settings.kubeconfig) if settings.kubeconfig else None
    found = configuration.load(kubeconfig, settings.context)

    def connect() -> Client:
        from evencore.kube import client

        return client.connect(kubeconfig, settings.context, found=found)

    return connect


def served_certificate(follower: Follower, server: Server) -> Check:
    """Make the check that a certificate is served, not only in its files."""

    def missing() -> str | None:
        why = follower.missing()
        if why is None:
            # Files are looked at every second; who hears that we are ready may call at once.
            server.refresh_certificate()
        return why

    return missing
