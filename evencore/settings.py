"""Settings of the processes: frozen, one class per process, from flags and the environment.

A flag goes before its environment variable EVENCORE_<NAME>, that before the default. What is
unknown or wrong is told all at once, with both names and the allowed values. What belongs to pods
is no setting but policy (evencore.domain.policy).
"""

from __future__ import annotations

import os
import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from uuid import uuid4

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from evencore.domain.policy import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "EVENCORE_"

Seconds = Annotated[float, Field(ge=0, le=3600)]


class SettingsError(ValueError):
    """Settings that are wrong; the message has one line per problem."""


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    # auto: for people on a terminal, JSON lines elsewhere.
    log_format: Literal["auto", "console", "json"] = "auto"


class WebhookSettings(_Settings):
    """Settings of `evencore webhook`."""

    # ADDRESS:PORT to listen on; several are separated by commas in the environment.
    bind: Annotated[tuple[str, ...], NoDecode] = ("0.0.0.0:8443",)
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

    @model_validator(mode="after")
    def _together(self) -> WebhookSettings:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key: give both, or neither for plain HTTP")
        if self.cert_secret and self.tls_cert:
            raise ValueError("--cert-secret: give it or --tls-cert and --tls-key")
        if self.cert_secret and self.snapshot:
            raise ValueError("--cert-secret is read from a cluster, --snapshot answers without one")
        if self.cert_directory and not self.cert_secret:
            raise ValueError("--cert-directory is for what is read from --cert-secret")
        if self.snapshot and (self.kubeconfig or self.context):
            raise ValueError(
                "--snapshot answers without a cluster: give it or --kubeconfig and --context"
            )
        return self


class ControllerSettings(_Settings):
    """Settings of `evencore controller`."""

    # ADDRESS:PORT of health and metrics, plain HTTP.
    bind: Annotated[str, Field(pattern=r"^.+:[0-9]{1,5}$")] = "0.0.0.0:8080"
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


S = TypeVar("S", bound=_Settings)

# A kubelet tells every container of the Services in its namespace, in variables named after them;
# ours may well be called evencore or evencore-webhook.
_SERVICE_LINK = re.compile(r"EVENCORE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")


def load(settings: type[S], flags: Mapping[str, object]) -> S:
    """Read settings from flags (those that are not None) and the environment.

    Raises SettingsError with every problem.
    """
    known = {f"{PREFIX}{name.upper()}" for name in settings.model_fields}
    problems = [
        f"{name}: unknown; known: {', '.join(sorted(known))}"
        for name in sorted(os.environ)
        # pydantic would read evencore_workers too, but pass over evencore_worker.
        if name.upper().startswith(PREFIX)
        and name not in known
        and not _SERVICE_LINK.fullmatch(name)
    ]
    given: dict[str, Any] = {
        name: value for name, value in flags.items() if value not in (None, ())
    }
    try:
        loaded = settings(**given)
    except ValidationError as error:
        problems += [_problem(item["loc"], item["msg"], item["input"]) for item in error.errors()]
        raise SettingsError("\n".join(problems)) from error
    if problems:
        raise SettingsError("\n".join(problems))
    return loaded


def _problem(place: tuple[int | str, ...], message: str, value: object) -> str:
    text = message.removeprefix("Value error, ").replace("Input should be", "must be")
    if text.startswith("String should match pattern"):
        text = "must be ADDRESS:PORT"  # the only one there is
    text = text.partition(", unable to parse")[0]  # says only once more that it is none
    if not place:
        return text
    name = str(place[0])
    flag, variable = f"--{name.replace('_', '-')}", f"{PREFIX}{name.upper()}"
    return f"{flag} (or {variable}): {text}, not {value!a}"
