"""What the doctor reads of objects besides `domain.views`. Pure, tolerant to anything."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evencore.domain import names
from evencore.domain.views import Metadata, OwnerReference, PodSpec, Requirement, controller_of


class LabelSelector(Struct, frozen=True, gc=False, rename="camel"):
    """A label selector; one that says nothing selects everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None

    def matches(self, labels: dict[str, str]) -> bool:
        """Tell whether it selects what has these labels (apimachinery labels.Requirement)."""
        equal = all(labels.get(key) == value for key, value in (self.match_labels or {}).items())
        return equal and all(_holds(r, labels.get(r.key)) for r in self.match_expressions or ())


def _holds(requirement: Requirement, value: str | None) -> bool:
    wanted = requirement.values or ()
    return {
        "In": value in wanted,
        "NotIn": value not in wanted,  # also without the label
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }.get(requirement.operator, False)


class ServiceReference(Struct, frozen=True, gc=False):
    """The Service of a webhook."""

    namespace: str = ""
    name: str = ""
    path: str | None = None
    port: Any = 443


class ClientConfig(Struct, frozen=True, gc=False, rename="camel"):
    """How the API server reaches a webhook."""

    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: str | None = None  # base64 of PEM


class Rule(Struct, frozen=True, gc=False, rename="camel"):
    """What a webhook is asked about."""

    operations: list[str] | None = None
    api_groups: list[str] | None = None
    resources: list[str] | None = None


class Hook(Struct, frozen=True, gc=False, rename="camel"):
    """One webhook of a MutatingWebhookConfiguration."""

    name: str = ""
    client_config: ClientConfig | None = None
    rules: list[Rule] | None = None
    failure_policy: str | None = None  # the API server fills in Fail
    namespace_selector: LabelSelector | None = None
    reinvocation_policy: str | None = None  # the API server fills in Never

    @property
    def ours(self) -> bool:
        """Whether it is one of evencore: by its name, or by the label that it selects by."""
        selector = self.namespace_selector or LabelSelector()
        keys = {*(selector.match_labels or ()), *(r.key for r in selector.match_expressions or ())}
        return self.name.endswith(names.PREFIX.rstrip("/")) or names.ADMISSION in keys


class HookConfiguration(Struct, frozen=True, gc=False):
    """A MutatingWebhookConfiguration."""

    metadata: Metadata | None = None
    webhooks: list[Hook] | None = None


class LeaseSpec(Struct, frozen=True, gc=False, rename="camel"):
    """spec of a Lease."""

    holder_identity: str | None = None
    lease_duration_seconds: Any = None
    renew_time: str | None = None


class Lease(Struct, frozen=True, gc=False):
    """A Lease."""

    spec: LeaseSpec | None = None


class SeenStatus(Struct, frozen=True, gc=False, rename="camel"):
    """status of a pod."""

    phase: str | None = None
    qos_class: str | None = None


class SeenPod(Struct, frozen=True, gc=False):
    """A pod that has not ended."""

    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: SeenStatus | None = None

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return (self.metadata.namespace if self.metadata else None) or ""

    @property
    def name(self) -> str:
        """Its name, with the namespace."""
        return f"{self.namespace}/{(self.metadata.name if self.metadata else None) or ''}"

    @property
    def controller(self) -> OwnerReference | None:
        """The ownerReference with controller: true."""
        return controller_of(self.metadata.owner_references if self.metadata else None)

    @property
    def matters(self) -> bool:
        """Whether it is alive, and we have to do with it, or it may have CPUs of its own."""
        alive = self.status is None or self.status.phase not in ("Succeeded", "Failed")
        ours = names.ORIGINAL_CPU in ((self.metadata.annotations if self.metadata else None) or {})
        pinned = self.status is not None and self.status.qos_class == "Guaranteed"
        return alive and (self.held or ours or pinned)

    @property
    def held(self) -> bool:
        """Whether our gate is on it."""
        return self.spec is not None and names.HOLD in self.spec.gates


class NodeSpec(Struct, frozen=True, gc=False):
    """spec of a node."""

    unschedulable: Any = None


class CordonedNode(Struct, frozen=True, gc=False):
    """A node, of which only matters whether it takes pods."""

    metadata: Metadata | None = None
    spec: NodeSpec | None = None


class EndpointConditions(Struct, frozen=True, gc=False):
    """conditions of an endpoint; ready null counts as true."""

    ready: Any = None


class Endpoint(Struct, frozen=True, gc=False):
    """One endpoint of an EndpointSlice."""

    addresses: list[str] | None = None
    conditions: EndpointConditions | None = None


class EndpointSlice(Struct, frozen=True, gc=False):
    """An EndpointSlice."""

    endpoints: list[Endpoint] | None = None

    @property
    def ready(self) -> int:
        """How many addresses take requests."""
        return sum(
            len(one.addresses or ())
            for one in self.endpoints or ()
            if one.conditions is None or one.conditions.ready is not False
        )
