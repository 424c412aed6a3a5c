"""Settings of the processes: one class per process.

What belongs to pods is no setting but policy (evencore.domain.policy). How flags and the
environment become settings: evencore.flags.
"""

from __future__ import annotations

import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from evencore.domain.policy import Duration
from evencore.flags import ClashError, Settings

Seconds = Annotated[float, Field(ge=0, le=3600)]


_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]+):([0-9]{1,5})")
_LARGEST_PORT = 65535


def _address(text: str) -> str:
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[2]) > _LARGEST_PORT:
        raise ValueError("must be ADDRESS:PORT, such as 0.0.0.0:8443 or [::]:8443")
    return text


Address = Annotated[str, AfterValidator(_address)]


class WebhookSettings(Settings):
    """Settings of `evencore webhook`."""

    # ADDRESS:PORT to listen on; several are separated by commas in the environment.
    bind: Annotated[tuple[Address, ...], NoDecode] = ("0.0.0.0:8443",)
    # Files of the serving certificate and its key (PEM). They are watched: a new certificate is
    # served within a second, without a restart.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Or the Secret that holds them, in our own namespace, and where to write what is read: a
    # directory of our own; by default a new one, in memory where that is possible.
    cert_secret: str | None = None
    cert_directory: Path | None = None
    # The policy file (YAML); without it the defaults hold.
    policy: Path | None = None
    # Dumps to answer from instead of a cluster.
    snapshot: Annotated[tuple[Path, ...], NoDecode] = ()
    # How to reach the cluster; without both: in-cluster, else the default kubeconfig.
    kubeconfig: Path | None = None
    context: str | None = None
    # Our own namespace never takes part. In a pod: from the downward API.
    namespace: str = "evencore-system"
    # Processes that answer. One answers thousands of requests a second; replicas are better.
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    # After SIGTERM: seconds of service as before, then seconds in which connections are given up.
    drain_seconds: Seconds = 5.0
    closing_seconds: Seconds = 5.0

    @field_validator("bind", "snapshot", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return _parts(value)

    @field_validator("bind")
    @classmethod
    def _somewhere(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        if not addresses:
            raise ValueError("must be at least one ADDRESS:PORT")
        return addresses

    # These look at settings above theirs, not at all together: so they are told beside mistakes in
    # others, and not a round later.
    @field_validator("tls_key")
    @classmethod
    def _both(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if (info.data.get("tls_cert") is None) != (key is None):
            raise ClashError(
                "--tls-cert and --tls-key: give both, or neither for plain HTTP",
                "tls_cert",
                "tls_key",
            )
        return key

    @field_validator("cert_secret")
    @classmethod
    def _one_certificate(cls, secret: str | None, info: ValidationInfo) -> str | None:
        if secret and info.data.get("tls_cert"):
            raise ClashError(
                "--cert-secret: give it or --tls-cert and --tls-key",
                "cert_secret",
                "cert_directory",
            )
        return secret

    @field_validator("cert_directory")
    @classmethod
    def _of_a_secret(cls, directory: Path | None, info: ValidationInfo) -> Path | None:
        if directory and not info.data.get("cert_secret", "one that is wrong"):
            raise ClashError(
                "--cert-directory is for what is read from --cert-secret", "cert_directory"
            )
        return directory

    @field_validator("snapshot")
    @classmethod
    def _without_secret(cls, files: tuple[Path, ...], info: ValidationInfo) -> tuple[Path, ...]:
        if files and info.data.get("cert_secret"):
            raise ClashError(
                "--cert-secret is read from a cluster, --snapshot answers without one",
                "cert_secret",
                "cert_directory",
            )
        return files

    @field_validator("context")
    @classmethod
    def _one_source(cls, context: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("snapshot") and (info.data.get("kubeconfig") or context):
            raise ClashError(
                "--snapshot answers without a cluster: give it or --kubeconfig and --context",
                "kubeconfig",
                "context",
            )
        return context


class ControllerSettings(Settings):
    """Settings of `evencore controller`."""

    # ADDRESS:PORT of health and metrics, plain HTTP.
    bind: Address = "0.0.0.0:8080"
    # The policy file (YAML), the same as the webhook's; without it the defaults hold.
    policy: Path | None = None
    # How to reach the cluster; without both: in-cluster, else the default kubeconfig.
    kubeconfig: Path | None = None
    context: str | None = None
    # Our own namespace: the Lease is there. In a pod: from the downward API.
    namespace: str = "evencore-system"
    # The Lease that controllers contend for, and as whom; default: the host's name and a random id.
    lease: str = "evencore-controller"
    identity: str = Field(default_factory=lambda: f"{socket.gethostname()}_{uuid4()}")
    # Threads that write. Each waits for the API server most of the time.
    workers: Annotated[int, Field(ge=1, le=64)] = 4
    # Never faster than this, whatever happens.
    writes_per_second: Annotated[float, Field(gt=0, le=1000)] = 20.0
    write_burst: Annotated[int, Field(ge=1, le=1000)] = 40
    # Who looks after the webhook's certificate: we, or somebody else, so that we write nothing.
    certs: Literal["self", "external"] = "self"
    # The Secret that it is kept in, in our own namespace, and the webhook configuration whose
    # caBundle is written.
    cert_secret: str = "evencore-webhook-tls"  # noqa: S105  a name
    webhook_configuration: str = "evencore"
    # The Service by which API servers call the webhook, and what else it is called by: DNS names
    # and IP addresses, separated by commas in the environment.
    webhook_service: str = "evencore-webhook"
    cert_names: Annotated[tuple[str, ...], NoDecode] = ()
    # How long authorities and certificates live; both are renewed at two thirds of it.
    ca_life: Duration = timedelta(days=365)
    cert_life: Duration = timedelta(days=30)
    # So long after a write all API servers and webhooks have heard of it, and so long after the
    # last certificate of an old authority that one is trusted.
    cert_spread: Duration = timedelta(seconds=60)
    cert_overlap: Duration = timedelta(hours=24)

    @field_validator("cert_names", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return _parts(value)


def _parts(value: object) -> object:
    """Split a list that is written with commas, as the environment has it."""
    if not isinstance(value, str):
        return value
    return tuple(part for part in map(str.strip, value.split(",")) if part)
