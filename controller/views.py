"""What the controller reads of pods and nodes besides what the webhook does; see domain.views."""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import Any, Final

from msgspec import Struct, structs

from evencore.domain import names
from evencore.domain.exclusive import Exclusive, exclusive
from evencore.domain.granted import PENDING
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
from evencore.keeping import shared


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


class Condition(Struct, frozen=True, gc=False):
    """A condition of a pod, of which only the kind matters."""

    type: str = ""


class WatchedStatus(LiveStatus, frozen=True, gc=False, rename="camel"):
    """status as it is decoded."""

    conditions: list[Condition] | None = None

    @property
    def waits_for_resize(self) -> bool:
        """Whether its spec asks for something else than its kubelet has granted."""
        return any(one.type == PENDING for one in self.conditions or ())


class WatchedPod(Struct, frozen=True, gc=False):
    """A pod that has neither succeeded nor failed, as it is decoded; `live` makes it small."""

    metadata: LiveMetadata
    spec: PodSpec = PodSpec()
    status: WatchedStatus = WatchedStatus()


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
    # These two are filled in by `live`: the CPUs of its own that it has, or will have, ...
    exclusive: Exclusive | None = None
    # ... and the node whose kubelet has admitted it and gave it CPUs, memory or devices to itself.
    # One that is only bound may yet be rejected, and leaves no room then.
    admitted_on: str | None = None

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


def live(pod: WatchedPod) -> LivePod:
    """Keep of a pod what is used: hardly anything of those that we have nothing to do with."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    # The API server has worked the class out; for most pods that spares us doing so again.
    may_have = status.qos_class in (None, "Guaranteed")
    told = PodStatus(phase=status.phase, start_time=status.start_time)
    found = exclusive(PodView(spec=spec, status=told)) if may_have else None
    if found and status.waits_for_resize:
        found = found._replace(running=False)  # its spec is no proof of what its kubelet admitted
    admitted = status.qos_class == "Guaranteed" and status.start_time and spec.node_name
    node = intern(spec.node_name) if admitted and spec.node_name else None
    own = _shared(found) if found else None
    steered = meta.labels is not None and meta.labels.steering is not None
    ours = meta.annotations is not None and meta.annotations != _NO_ANNOTATIONS
    if not (steered or ours or spec.scheduling_gates):
        return LivePod(LiveMetadata(uid=meta.uid), _NO_SPEC, _NO_STATUS, own, node)
    controller = controller_of(meta.owner_references)
    small = structs.replace(
        meta,
        namespace=intern(meta.namespace),
        labels=_labels(meta.labels),
        annotations=_words(meta.annotations),
        owner_references=_alone(controller),
    )
    gates = _ONLY_OURS if spec.scheduling_gates == _ONLY_OURS else spec.scheduling_gates
    kept = LiveSpec(spec.node_name, spec.affinity, gates)
    short = LiveStatus(status.phase, status.start_time, status.qos_class)
    return LivePod(small, kept, short, own, node)


_NO_ANNOTATIONS = OurAnnotations()
_NO_SPEC = LiveSpec()
_NO_STATUS = LiveStatus()
_ONLY_OURS = [SchedulingGate(names.HOLD)]

# The same object for what is the same: replicas differ in little.


@lru_cache(maxsize=4096)
def _shared(found: Exclusive) -> Exclusive:
    return found


@lru_cache(maxsize=4096)
def _labels(found: SteeringLabels | None) -> SteeringLabels | None:
    return found


LONGEST_DECISION: Final = 8192
"""Characters kept of what is written on a pod: 20 exclusions have 2,000. Anybody may write more."""


def _words(found: OurAnnotations | None) -> OurAnnotations | None:
    return found and _same_words(
        OurAnnotations(
            found.decision and found.decision[:LONGEST_DECISION],
            "yes" if found.original_cpu else None,  # what it says is for people
        )
    )


@lru_cache(maxsize=1024)
def _same_words(found: OurAnnotations) -> OurAnnotations:
    return found


@lru_cache(maxsize=4096)
def _alone(controller: OwnerReference | None) -> list[OwnerReference] | None:
    """Return the one owner that matters."""
    return [controller] if controller else None


class NodeStatus(Struct, frozen=True, gc=False):
    """status of a node."""

    allocatable: dict[str, Any] | None = None


class FullNode(NodeView, frozen=True, gc=False):
    """A node with what it can give."""

    status: NodeStatus | None = None


def alike(node: FullNode) -> FullNode:
    """Return a node the texts of whose labels are those of all other nodes."""
    meta = node.metadata
    if meta is None or not meta.labels:
        return node
    labels = shared(meta.labels, meta.name or "")
    return structs.replace(node, metadata=structs.replace(meta, labels=labels))
