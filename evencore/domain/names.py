"""Every label, annotation, gate and reason that users see, once. Nothing else."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "evencore.io/"

# Labels that people set: on namespaces to take part, on pods to opt out.
ADMISSION: Final = "evencore.io/admission"
ENABLED: Final = "enabled"
DISABLED: Final = "disabled"

# Annotations that people write, on pods or on namespaces.
CPU: Final = "evencore.io/cpu"
CPU_OF_CONTAINER: Final = "evencore.io/cpu."
TOPOLOGY: Final = "evencore.io/topology"
ON_REJECTION: Final = "evencore.io/on-rejection"

# Annotations that we write on pods.
ORIGINAL_CPU: Final = "evencore.io/original-cpu"
DECISION: Final = "evencore.io/decision"

# The label that we set on pods whose placement the rejections of their owner steer.
STEERING: Final = "evencore.io/steering"
EXCLUDED: Final = "excluded"
HELD: Final = "held"
RELEASED: Final = "released"

# The scheduling gate that holds a pod; the controller takes it off.
HOLD: Final = "evencore.io/hold"

# Labels that the controller sets on nodes: static facts only.
NODE: Final = "evencore.io/node"
THREADS_PER_CORE: Final = "evencore.io/threads-per-core"
MAX_CONTAINER_CPUS: Final = "evencore.io/max-container-cpus"
MAX_POD_CPUS: Final = "evencore.io/max-pod-cpus"

# The annotation in which the controller says why it set each of these labels (a JSON map).
LABEL_REASONS: Final = "evencore.io/label-reasons"

# The annotation that the controller writes on a node that rejected pods when room appeared there.
ROOM_SINCE: Final = "evencore.io/room-since"

# The annotation that an admin may write on a node to tell what cannot be seen from outside.
NODE_TOPOLOGY: Final = "evencore.io/topology"

# Reasons of our Events.
CPU_ALIGNED: Final = "CPUAligned"
TOPOLOGY_REJECTED: Final = "TopologyRejected"
NODE_EXCLUDED: Final = "NodeExcluded"
POD_HELD: Final = "PodHeld"
POD_RELEASED: Final = "PodReleased"
NEVER_FITS: Final = "NeverFits"
REJECTED_PODS_DELETED: Final = "RejectedPodsDeleted"
WEBHOOK_NOT_CALLED: Final = "WebhookNotCalled"

# Reasons of Events on the Secret with the webhook's certificate.
AUTHORITY_MADE: Final = "CertificateAuthorityMade"
AUTHORITY_DROPPED: Final = "CertificateAuthorityDropped"
CERTIFICATE_ISSUED: Final = "CertificateIssued"
TRUST_PUBLISHED: Final = "TrustPublished"
CERTIFICATES_LEFT_ALONE: Final = "CertificatesLeftAlone"
CERTIFICATES_NOT_KEPT: Final = "CertificatesNotKept"

# Names of Kubernetes that we look at.
MIRROR_POD: Final = "kubernetes.io/config.mirror"
OS_LABELS: Final = frozenset({"kubernetes.io/os", "beta.kubernetes.io/os"})
ARCH: Final = "kubernetes.io/arch"
NODE_NAME_FIELD: Final = "metadata.name"

_LABEL_VALUE_MAX = 63  # characters, a limit of Kubernetes


def node_label_value(node_name: str) -> str:
    """Return what `evencore.io/node` says on the node of this name.

    A label value has at most 63 characters and a node name up to 253: a longer name is replaced by
    the first 63 hexadecimal digits of its SHA-256.
    """
    if len(node_name) <= _LABEL_VALUE_MAX:
        return node_name
    from hashlib import sha256  # noqa: PLC0415  next to no node has such a name, and it is a library

    return sha256(node_name.encode()).hexdigest()[:_LABEL_VALUE_MAX]
