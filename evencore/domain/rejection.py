"""What a kubelet meant when it refused a pod, read from status.reason and status.message.

Reasons are compared without spaces and case: old kubelets wrote "SMT Alignment Error".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from evencore.domain import names
from evencore.domain.policy import WIDTHS

if TYPE_CHECKING:
    from evencore.domain.views import FailedPodView, OwnerReference, PodView


class Kind(Enum):
    """The kinds of rejection; what cures each is in docs/architecture.md."""

    MISALIGNED = "Misaligned"
    NO_FREE_CORES = "NoFreeCores"
    NO_ALIGNED_NUMA = "NoAlignedNuma"
    UNEXPECTED = "Unexpected"
    OUT_OF = "OutOf"

    @property
    def excludes(self) -> bool:
        """Whether such a rejection is a reason to keep the owner's next pods off that node."""
        return self in _EXCLUDING


# Once: an owner that loops has thousands of rejections, and looking up a member takes longest.
_EXCLUDING = (Kind.NO_FREE_CORES, Kind.NO_ALIGNED_NUMA, Kind.UNEXPECTED)


class Rejection(Struct, frozen=True):
    """One pod that its kubelet refused."""

    uid: str  # of the pod
    owner: str  # its `owner_key`; empty where the witness tells none
    node: str
    kind: Kind
    reason: str  # as the kubelet wrote it
    at: datetime | None  # never before the object was made; None: the object does not say
    namespace: str = ""
    pod: str = ""  # its name
    width: int | None = None  # threads per core of the node, if the kubelet named them
    released: bool = False  # it was a held pod that the controller had let go
    clock: datetime | None = None  # by the kubelet's clock: only good to compare with itself


_NOT_A_MULTIPLE = re.compile(
    r"requested (?P<asked>[0-9]{1,9}) cpus not multiple cpus per core = (?P<width>[0-9]{1,9})"
)
_OF_CORES = re.compile(r"CPUs per core = (?P<width>[0-9]{1,9})")
# UnexpectedAdmissionError is said for other things, too. What CPU, memory and device manager say
# stands behind the first words (cm/admission/errors.go) or, before 1.18, the second
# (lifecycle/predicate.go), and device plugins say what they like; else their own texts tell.
_OF_A_MANAGER = re.compile(
    r"Allocate failed due to|Update plugin resources failed due to"
    r"|cpus available|cpus allocated|\[cpumanager\]|\[memorymanager\]|devices? unavailable"
    r"|unregistered device|healthy|allocated less resources",
    re.IGNORECASE,
)


_OUT_OF = re.compile(r"outof[-./_a-z0-9]{1,253}")  # a resource: cpu, nvidia.com/gpu


def classify(reason: str | None, message: str | None) -> Kind | None:
    """Tell what kind of rejection this is; None = none of ours."""
    name = (reason or "").replace(" ", "").lower()
    text = message or ""
    if name == "topologyaffinityerror":
        return Kind.NO_ALIGNED_NUMA
    if name == "smtalignmenterror":
        found = _NOT_A_MULTIPLE.search(text)
        # Before 1.32 a kubelet without free cores printed the text of a misaligned request.
        if found and int(found["width"]) and int(found["asked"]) % int(found["width"]):
            return Kind.MISALIGNED
        return Kind.NO_FREE_CORES
    if name == "unexpectedadmissionerror":
        return Kind.UNEXPECTED if _OF_A_MANAGER.search(text) else None
    return Kind.OUT_OF if _OUT_OF.fullmatch(name) else None


def rejection_of(pod: PodView | FailedPodView) -> Rejection | None:
    """Read the rejection of a failed pod; None if it is none of ours or nobody controls the pod.

    status.phase and status.reason count, container states do not: a restarted kubelet overwrites
    them with ContainerStatusUnknown.
    """
    meta, status, owner = pod.metadata, pod.status, pod.controller
    node = pod.spec.node_name if pod.spec else None
    if meta is None or status is None or status.phase != "Failed" or owner is None or not node:
        return None
    if owner.kind == "Node":  # a static pod: only the files of its node can change it
        return None
    kind = classify(status.reason, status.message)
    if kind is None:
        return None
    clock, made = read_time(status.start_time), read_time(meta.creation_timestamp)
    return Rejection(
        meta.uid or "",
        owner_key(owner, meta.namespace),
        node,
        kind,
        status.reason or "",
        later(clock, made),
        meta.namespace or "",
        meta.name or "",
        named_width(status.message),
        pod.steering == names.RELEASED,
        clock,
    )


def later(clock: datetime | None, made: datetime | None) -> datetime | None:
    """Return when something happened to an object, as well as it can be known.

    `clock` is by a kubelet's clock, which may be wrong. `made`, when the object was made, is by the
    API server's; a clock that is behind would else make a rejection older than anybody heeds.
    """
    return max((at for at in (clock, made) if at), default=None)


def owner_key(owner: OwnerReference, namespace: str | None) -> str:
    """Return what identifies an owner in the evidence.

    It is the uid, which changes with the template of a Deployment, so that a new one starts
    without a past. A StatefulSet goes by its name: its controller deletes a rejected pod at once,
    and the Event that is left tells the pod's name, but no owner.

    The namespace is always part of it: anybody may write the uid of somebody else's ReplicaSet into
    pods of his own, and have them rejected.
    """
    if owner.kind == "StatefulSet":
        return stateful_set_key(namespace, owner.name)
    return f"{namespace or ''}/{owner.uid}"


def stateful_set_key(namespace: str | None, name: str) -> str:
    """Return what identifies a StatefulSet in the evidence."""
    return f"StatefulSet/{namespace or ''}/{name}"


def named_width(message: str | None) -> int | None:
    """Return the threads per core that a kubelet named in a rejection; only ones that exist."""
    found = _NOT_A_MULTIPLE.search(message or "") or _OF_CORES.search(message or "")
    width = int(found["width"]) if found else None
    return width if width in WIDTHS else None


def read_time(text: str | None) -> datetime | None:
    """Read a time as Kubernetes writes it; None for what is none."""
    try:
        at = datetime.fromisoformat(text) if text else None
        return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):  # the latter on the first and last day that there is
        return None
