"""A MutatingWebhookConfiguration as values, and its hooks in the order in which they are called.

For: reading what is in the store, once per change of it.
Not for: telling what is wrong with one; that is `checks`, before it gets into the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from simulator.admission.webhooks.conditions import Condition, compiled
from simulator.selectors import Requirement, of_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

_HTTPS: Final = 443


class Service(Struct, frozen=True):
    """Where a webhook is, by service."""

    namespace: str = ""
    name: str = ""
    path: str = ""
    port: int = _HTTPS


class ClientConfig(Struct, frozen=True, rename="camel"):
    """Where a webhook is, and by which authorities it is known."""

    url: str | None = None
    service: Service | None = None
    ca_bundle: bytes | None = None


class Rule(Struct, frozen=True, rename="camel"):
    """Which writes a webhook is asked about."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str = "*"


class MatchCondition(Struct, frozen=True):
    """A CEL expression that must be true."""

    name: str = ""
    expression: str = ""


class Expression(Struct, frozen=True):
    """One condition on a label."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class LabelSelector(Struct, frozen=True, rename="camel"):
    """A selector as it is written."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Expression, ...] | None = None

    def requirements(self) -> tuple[Requirement, ...]:
        """Give it as what labels are held against; empty matches everything."""
        return of_label_selector(msgspec.to_builtins(self)) or ()


class Webhook(Struct, frozen=True, rename="camel"):
    """One entry of a configuration, with the defaults of admissionregistration/v1."""

    client_config: ClientConfig
    name: str = ""
    rules: tuple[Rule, ...] = ()
    failure_policy: str = "Fail"
    match_policy: str = "Equivalent"
    namespace_selector: LabelSelector = LabelSelector()
    object_selector: LabelSelector = LabelSelector()
    side_effects: str | None = None
    timeout_seconds: int = 10
    admission_review_versions: tuple[str, ...] = ()
    reinvocation_policy: str = "Never"
    match_conditions: tuple[MatchCondition, ...] = ()


def read(configuration: Object) -> tuple[Webhook, ...]:
    """Read the entries of a configuration. Raises msgspec.ValidationError for wrong types."""
    given = configuration.get("webhooks") or ()
    return msgspec.convert(given, tuple[Webhook, ...])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to send requests."""

    authority: str  # host and port, as in the URL and the Host header
    server_name: str  # what the certificate must be for
    host: str
    port: int
    path: str
    service: Service | None
    ca: bytes  # PEM, of one or more authorities; empty: those that the machine trusts

    @property
    def connects_like(self) -> tuple[str, str, bytes]:
        """What two endpoints must share to share connections."""
        return self.authority, self.server_name, self.ca


def endpoint_of(config: ClientConfig) -> Endpoint:
    """Tell where a webhook is. Kubernetes: webhook.ClientManager.HookClient."""
    ca, service = config.ca_bundle or b"", config.service
    if service is not None:
        name = f"{service.name}.{service.namespace}.svc"
        authority = f"{name}:{service.port}"
        return Endpoint(authority, name, name, service.port, service.path or "/", service, ca)
    parts = urlsplit(config.url or "")
    host = parts.hostname or ""
    return Endpoint(parts.netloc, host, host, parts.port or _HTTPS, parts.path or "/", None, ca)


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook that can be called."""

    key: str  # unique among all configurations
    webhook: Webhook
    endpoint: Endpoint
    namespaces: tuple[Requirement, ...]
    objects: tuple[Requirement, ...]
    conditions: tuple[Condition, ...]

    @property
    def name(self) -> str:
        """As messages have it."""
        return self.webhook.name

    @property
    def ignored(self) -> bool:
        """Whether a write goes on if the webhook cannot be asked."""
        return self.webhook.failure_policy == "Ignore"


def hooks_of(configurations: Iterable[Object]) -> tuple[Hook, ...]:
    """Give all hooks in the order of their calls: by name of configuration, then as written."""
    ordered = sorted(configurations, key=lambda one: str(one["metadata"]["name"]))
    return tuple(
        Hook(
            key=f"{one['metadata']['name']}/{number}/{webhook.name}",
            webhook=webhook,
            endpoint=endpoint_of(webhook.client_config),
            namespaces=webhook.namespace_selector.requirements(),
            objects=webhook.object_selector.requirements(),
            conditions=tuple(compiled(c.name, c.expression) for c in webhook.match_conditions),
        )
        for one in ordered
        for number, webhook in enumerate(read(one))
    )
