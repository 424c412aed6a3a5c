"""What the controller reads of pods and nodes besides what the webhook does; see domain.views."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evencore.domain import names
from evencore.domain.views import (
    Affinity,
    Metadata,
    OwnerReference,
    SchedulingGate,
    SteeringLabels,
    controller_of,
)


class OurAnnotations(
    Struct,
    frozen=True,
    gc=False,
    rename={"decision": names.DECISION, "original_cpu": names.ORIGINAL_CPU},
):
    """What the webhook wrote on a pod."""

    decision: str | None = None
    original_cpu: str | None = None


class LiveMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """metadata of a pod that has not ended."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: SteeringLabels | None = None
    annotations: OurAnnotations | None = None
    owner_references: list[OwnerReference] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class LiveSpec(Struct, frozen=True, gc=False, rename="camel"):
    """spec of such a pod."""

    node_name: str | None = None
    affinity: Affinity | None = None
    scheduling_gates: list[SchedulingGate] | None = None


class LiveStatus(Struct, frozen=True, gc=False, rename="camel"):
    """status of such a pod."""

    phase: str | None = None
    start_time: str | None = None
    qos_class: str | None = None


class LivePod(Struct, frozen=True, gc=False):
    """A pod that has neither succeeded nor failed. A cluster has 100,000: no more than we use."""

    metadata: LiveMetadata
    spec: LiveSpec = LiveSpec()
    status: LiveStatus = LiveStatus()

    @property
    def controller(self) -> OwnerReference | None:
        """The ownerReference with controller: true."""
        return controller_of(self.metadata.owner_references)

    @property
    def steering(self) -> str | None:
        """The label evencore.io/steering."""
        return self.metadata.labels.steering if self.metadata.labels else None

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of its scheduling gates."""
        return tuple(gate.name for gate in self.spec.scheduling_gates or ())

    @property
    def held(self) -> bool:
        """Whether it waits for us: our gate is on it."""
        return names.HOLD in self.gates

    @property
    def exclusive_node(self) -> str | None:
        """The node on which it may have CPUs of its own: a kubelet has admitted it.

        One that is only bound may yet be rejected, and leaves no room then.
        """
        guaranteed = self.status.qos_class == "Guaranteed" and self.status.start_time
        return self.spec.node_name if guaranteed else None


class NodeStatus(Struct, frozen=True, gc=False):
    """status of a node."""

    allocatable: dict[str, Any] | None = None


class FullNode(Struct, frozen=True, gc=False):
    """A node with what it can give."""

    metadata: Metadata | None = None
    status: NodeStatus | None = None
