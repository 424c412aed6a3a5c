"""What the controller reads of pods and nodes besides what the webhook does; see domain.views."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evencore.domain import names
from evencore.domain.exclusive import Exclusive, exclusive
from evencore.domain.views import (
    Affinity,
    NodeView,
    OwnerReference,
    PodSpec,
    PodStatus,
    PodView,
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


class LiveStatus(Struct, frozen=True, gc=False, rename="camel"):
    """status of such a pod."""

    phase: str | None = None
    start_time: str | None = None
    qos_class: str | None = None


class WatchedPod(Struct, frozen=True, gc=False):
    """A pod that has neither succeeded nor failed, as it is decoded; `live` makes it small."""

    metadata: LiveMetadata
    spec: PodSpec = PodSpec()
    status: LiveStatus = LiveStatus()


class LiveSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What is kept of its spec."""

    node_name: str | None = None
    affinity: Affinity | None = None  # the controller keeps it only if we steer the pod
    scheduling_gates: list[SchedulingGate] | None = None


class LivePod(Struct, frozen=True, gc=False):
    """What is kept of such a pod. A cluster has 100,000: no more than we use."""

    metadata: LiveMetadata
    spec: LiveSpec = LiveSpec()
    status: LiveStatus = LiveStatus()
    exclusive: Exclusive | None = None  # the CPUs of its own that it has, or will have: see `live`

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
    def decision(self) -> str:
        """What the webhook and we have written on it, in words; empty: nothing."""
        written = self.metadata.annotations
        return (written.decision if written else None) or ""

    @property
    def admitted_on(self) -> str | None:
        """The node whose kubelet has admitted it and gave it CPUs, memory or devices to itself.

        One that is only bound may yet be rejected, and leaves no room then.
        """
        guaranteed = self.status.qos_class == "Guaranteed" and self.status.start_time
        return self.spec.node_name if guaranteed else None


def live(pod: WatchedPod) -> LivePod:
    """Keep of a pod what is used."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    labels, written = meta.labels, meta.annotations
    steered = names.HOLD in spec.gates or (labels is not None and labels.steering is not None)
    small = LiveMetadata(
        meta.name,
        meta.namespace,
        meta.uid,
        labels if labels != _NO_LABELS else None,
        written if written != _NO_ANNOTATIONS else None,
        meta.owner_references,
        meta.creation_timestamp,
        meta.deletion_timestamp,
    )
    return LivePod(
        small,
        LiveSpec(spec.node_name, spec.affinity if steered else None, spec.scheduling_gates),
        status,
        exclusive(PodView(spec=spec, status=PodStatus(phase=status.phase))),
    )


_NO_LABELS = SteeringLabels()
_NO_ANNOTATIONS = OurAnnotations()


class NodeStatus(Struct, frozen=True, gc=False):
    """status of a node."""

    allocatable: dict[str, Any] | None = None


class FullNode(NodeView, frozen=True, gc=False):
    """A node with what it can give."""

    status: NodeStatus | None = None
