"""What we read of the objects of Kubernetes: the fields that we use and no others.

Decoded straight from bytes by msgspec (docs/decisions/0002). Unknown fields are ignored; null and
missing are the same. `lenient.read` accepts any value at all.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from evencore.domain import names

# gc=False: these trees have no cycles, so the collector need not walk them in the admission path.


class Requirement(Struct, frozen=True, gc=False):
    """One NodeSelectorRequirement: key, operator, values."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class Term(Struct, frozen=True, gc=False, rename="camel"):
    """One NodeSelectorTerm: its requirements are ANDed; one without any matches no node."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None

    @property
    def empty(self) -> bool:
        """True for a term without requirements, which matches no node."""
        return not self.match_expressions and not self.match_fields


class NodeSelector(Struct, frozen=True, gc=False, rename="camel"):
    """A list of terms, which are ORed."""

    node_selector_terms: list[Term] | None = None


class PreferredTerm(Struct, frozen=True, gc=False):
    """One PreferredSchedulingTerm."""

    weight: Any = None
    preference: Term | None = None


class NodeAffinity(Struct, frozen=True, gc=False):
    """spec.affinity.nodeAffinity."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: list[PreferredTerm] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Struct, frozen=True, gc=False, rename="camel"):
    """spec.affinity; pod affinity is no business of ours."""

    node_affinity: NodeAffinity | None = None


class Resources(Struct, frozen=True, gc=False):
    """requests and limits; the values are read by `quantity`, which can name a wrong one."""

    requests: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None


class Container(Struct, frozen=True, gc=False, rename="camel"):
    """An app or init container; restartPolicy Always makes an init container a sidecar."""

    name: str = ""
    resources: Resources | None = None
    restart_policy: str | None = None


class PodOS(Struct, frozen=True, gc=False):
    """spec.os."""

    name: str | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """One entry of spec.schedulingGates: the scheduler waits until all are gone."""

    name: str = ""


class PodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """spec of a pod."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    node_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    os: PodOS | None = None
    resources: Resources | None = None
    scheduling_gates: list[SchedulingGate] | None = None

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of the scheduling gates."""
        return tuple(gate.name for gate in self.scheduling_gates or ())


class OwnerReference(Struct, frozen=True, gc=False, rename="camel"):
    """One entry of metadata.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: Any = None


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    """metadata of any object."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    creation_timestamp: str | None = None


class PodStatus(Struct, frozen=True, gc=False, rename="camel"):
    """status of a pod."""

    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    start_time: str | None = None


class PodView(Struct, frozen=True, gc=False):
    """A pod."""

    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: PodStatus | None = None

    @property
    def meta(self) -> Metadata:
        """metadata, empty if missing."""
        return self.metadata or _NO_METADATA

    @property
    def controller(self) -> OwnerReference | None:
        """The ownerReference with controller: true, as metav1.GetControllerOf finds it."""
        return controller_of(self.meta.owner_references)

    @property
    def steering(self) -> str | None:
        """The label evencore.io/steering."""
        return (self.meta.labels or {}).get(names.STEERING)


class SteeringLabels(
    Struct,
    frozen=True,
    gc=False,
    rename={"steering": names.STEERING, "admission": names.ADMISSION},
):
    """The labels of a failed pod that matter: it was held before; it is not ours to touch."""

    steering: str | None = None
    admission: str | None = None


class Wishes(
    Struct,
    frozen=True,
    gc=False,
    rename={"on_rejection": names.ON_REJECTION, "mirror": names.MIRROR_POD},
):
    """The annotations of a failed pod that matter: its author's, and that it is a static pod."""

    on_rejection: str | None = None
    mirror: str | None = None


class OwnedMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """metadata of an object of which only identity, age and owner matter."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: SteeringLabels | None = None
    annotations: Wishes | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class BoundSpec(Struct, frozen=True, gc=False, rename="camel"):
    """spec of a pod of which only the node matters."""

    node_name: str | None = None


class FailedPodView(Struct, frozen=True, gc=False):
    """A failed pod: a looping owner has thousands, so no more than its rejection needs."""

    metadata: OwnedMetadata | None = None
    spec: BoundSpec | None = None
    status: PodStatus | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The ownerReference with controller: true."""
        return controller_of(self.metadata.owner_references if self.metadata else None)

    @property
    def steering(self) -> str | None:
        """The label evencore.io/steering."""
        labels = self.metadata.labels if self.metadata else None
        return labels.steering if labels else None


def controller_of(references: list[OwnerReference] | None) -> OwnerReference | None:
    """Return the ownerReference with controller: true, as metav1.GetControllerOf finds it."""
    for owner in references or ():
        if owner.controller is True:
            return owner
    return None


class NodeView(Struct, frozen=True, gc=False):
    """A node, full or as PartialObjectMetadata: its labels and annotations are all we use."""

    metadata: Metadata | None = None


class NamespaceView(Struct, frozen=True, gc=False):
    """A namespace."""

    metadata: Metadata | None = None


class LimitRangeItem(Struct, frozen=True, gc=False):
    """One limit: type Container, Pod or PersistentVolumeClaim."""

    type: str | None = None
    max: dict[str, Any] | None = None


class LimitRangeSpec(Struct, frozen=True, gc=False):
    """spec of a LimitRange."""

    limits: list[LimitRangeItem] | None = None


class LimitRangeView(Struct, frozen=True, gc=False):
    """A LimitRange."""

    metadata: Metadata | None = None
    spec: LimitRangeSpec | None = None


class NamedValue(Struct, frozen=True, gc=False):
    """An attribute of a NodeResourceTopology."""

    name: str = ""
    value: str = ""


class ZoneResource(Struct, frozen=True, gc=False):
    """A resource of a zone."""

    name: str = ""
    allocatable: Any = None


class Zone(Struct, frozen=True, gc=False):
    """A zone of a NodeResourceTopology; those of type Node are NUMA nodes."""

    name: str = ""
    type: str = ""
    resources: list[ZoneResource] | None = None


class TopologyView(Struct, frozen=True, gc=False, rename="camel"):
    """A NodeResourceTopology of topology.node.k8s.io/v1alpha2; its name is its node's name."""

    metadata: Metadata | None = None
    topology_policies: list[str] | None = None
    zones: list[Zone] | None = None
    attributes: list[NamedValue] | None = None


_NO_METADATA = Metadata()
