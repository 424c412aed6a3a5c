"""Settings of the processes: one class per process.

What belongs to pods is no setting but policy (evencore.domain.policy). How flags and the
environment become settings: evencore.flags.
"""

from __future__ import annotations

import os
import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from msgspec import field

from evencore.domain.forms import DURATION, TEXT, choice, listed, number, optional, whole
from evencore.domain.written import Clash, Form
from evencore.flags import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+):([0-9]{1,5})")
_LARGEST_PORT = 65535


def _address(value: object) -> str:
    match = _ADDRESS.fullmatch(TEXT.read(value))
    if match is None or int(match[2]) > _LARGEST_PORT:
        raise ValueError("must be ADDRESS:PORT, such as 0.0.0.0:8443 or [::]:8443")
    return match[0]


def _parted(form: Form[T]) -> Form[tuple[T, ...]]:
    """Give the form of a list that may be written with commas, as the environment has it."""
    several = listed(form, tuple)

    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, str):
            return several.read(value)
        return several.read([part for part in map(str.strip, value.split(",")) if part])

    return Form(read, several.write)


def _somewhere(value: object) -> tuple[str, ...]:
    addresses = _ADDRESSES.read(value)
    if not addresses:
        raise ValueError("must be at least one ADDRESS:PORT")
    return addresses


_PATH = Form(lambda value: Path(TEXT.read(value)), str)
_ADDRESSES = _parted(Form(_address, str))

Address = Annotated[str, Form(_address, str)]
Addresses = Annotated[tuple[str, ...], Form(_somewhere, _ADDRESSES.write)]
Duration = Annotated[timedelta, DURATION]
File = Annotated[Path | None, optional(_PATH)]  # or a directory
Files = Annotated[tuple[Path, ...], _parted(_PATH)]
Seconds = Annotated[float, number(0, 3600)]
Text = Annotated[str, TEXT]
Texts = Annotated[tuple[str, ...], _parted(TEXT)]
TextOrNone = Annotated[str | None, optional(TEXT)]
Workers = Annotated[int, whole(1, 64)]


class WebhookSettings(Settings, frozen=True):
    """Settings of `evencore webhook`."""

    # ADDRESS:PORT to listen on; several are separated by commas in the environment.
    bind: Addresses = ("0.0.0.0:8443",)
    # Files of the serving certificate and its key (PEM). They are watched: a new certificate is
    # served within a second, without a restart.
    tls_cert: File = None
    tls_key: File = None
    # Or the Secret that holds them, in our own namespace, and where to write what is read: a
    # directory of our own; by default a new one, in memory where that is possible.
    cert_secret: TextOrNone = None
    cert_directory: File = None
    # The policy file (YAML); without it the defaults hold.
    policy: File = None
    # Dumps to answer from instead of a cluster.
    snapshot: Files = ()
    # How to reach the cluster; without both: in-cluster, else the default kubeconfig.
    kubeconfig: File = None
    context: TextOrNone = None
    # Our own namespace never takes part. In a pod: from the downward API.
    namespace: Text = "evencore-system"
    # Processes that answer. One answers thousands of requests a second; replicas are better.
    workers: Workers = 1
    # After SIGTERM: seconds of service as before, then seconds in which connections are given up.
    drain_seconds: Seconds = 5.0
    closing_seconds: Seconds = 5.0

    def clashes(self) -> Iterator[Clash]:
        """Tell what is given twice, or in part."""
        if (self.tls_cert is None) != (self.tls_key is None):
            yield Clash(
                "--tls-cert and --tls-key: give both, or neither for plain HTTP",
                ("tls_cert", "tls_key"),
            )
        if self.cert_secret and self.tls_cert:
            yield Clash(
                "--cert-secret: give it or --tls-cert and --tls-key",
                ("cert_secret", "cert_directory"),
            )
        if self.cert_directory and not self.cert_secret:
            yield Clash(
                "--cert-directory is for what is read from --cert-secret", ("cert_directory",)
            )
        if self.snapshot and self.cert_secret:
            yield Clash(
                "--cert-secret is read from a cluster, --snapshot answers without one",
                ("cert_secret", "cert_directory"),
            )
        if self.snapshot and (self.kubeconfig or self.context):
            yield Clash(
                "--snapshot answers without a cluster: give it or --kubeconfig and --context",
                ("kubeconfig", "context"),
            )


class ControllerSettings(Settings, frozen=True):
    """Settings of `evencore controller`."""

    # ADDRESS:PORT of health and metrics, plain HTTP.
    bind: Address = "0.0.0.0:8080"
    # The policy file (YAML), the same as the webhook's; without it the defaults hold.
    policy: File = None
    # How to reach the cluster; without both: in-cluster, else the default kubeconfig.
    kubeconfig: File = None
    context: TextOrNone = None
    # Our own namespace: the Lease is there. In a pod: from the downward API.
    namespace: Text = "evencore-system"
    # The Lease that controllers contend for, and as whom; default: the host's name and a random id.
    lease: Text = "evencore-controller"
    identity: Text = field(default_factory=lambda: f"{socket.gethostname()}_{os.urandom(16).hex()}")
    # Threads that write. Each waits for the API server most of the time.
    workers: Workers = 4
    # Never faster than this, whatever happens.
    writes_per_second: Annotated[float, number(0.001, 1000)] = 20.0
    write_burst: Annotated[int, whole(1, 1000)] = 40
    # Who looks after the webhook's certificate: we, or somebody else, so that we write nothing.
    certs: Annotated[Literal["self", "external"], choice("self", "external")] = "self"
    # The Secret that it is kept in, in our own namespace, and the webhook configuration whose
    # caBundle is written.
    cert_secret: Text = "evencore-webhook-tls"  # noqa: S105  a name
    webhook_configuration: Text = "evencore"
    # The Service by which API servers call the webhook, and what else it is called by: DNS names
    # and IP addresses, separated by commas in the environment.
    webhook_service: Text = "evencore-webhook"
    cert_names: Texts = ()
    # How long authorities and certificates live; both are renewed at two thirds of it.
    ca_life: Duration = timedelta(days=365)
    cert_life: Duration = timedelta(days=30)
    # So long after a write all API servers and webhooks have heard of it, and so long after the
    # last certificate of an old authority that one is trusted.
    cert_spread: Duration = timedelta(seconds=60)
    cert_overlap: Duration = timedelta(hours=24)
