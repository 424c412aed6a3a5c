"""The rejected pods one by one: which there are, and which of them may be deleted by hand."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.rejection import Kind, classify, read_time
from evencore.rejections.picture import is_mirror

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from evencore.domain.views import OwnerReference, PodView

MADE_AGAIN: Final = {
    ("apps", "ReplicaSet"),
    ("", "ReplicationController"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
}
"""Group and kind of the owners that have made another pod long since, or will at once."""

_OF_CORES: Final = re.compile(
    r"cpus available|cpus allocated|\[cpumanager\]|\[memorymanager\]", re.IGNORECASE
)
"""Of UnexpectedAdmissionError: not those of device plugins, whose admins want to see them."""


class RejectedPod(NamedTuple):
    """A pod that its kubelet refused for its cores or their memory."""

    namespace: str
    name: str
    uid: str
    node: str
    reason: str
    owner: str  # kind/name, or empty
    owner_name: str
    at: datetime | None
    kept: str | None  # why it is not to be deleted; None: it may be
    action: str | None  # what only a person can do about it

    def age(self, now: datetime) -> timedelta | None:
        """Return how long ago it was rejected."""
        return None if self.at is None else max(now - self.at, timedelta())


class Filter(NamedTuple):
    """Which rejected pods are meant; what is not given does not matter."""

    namespace: str | None = None
    node: str | None = None
    owner: str | None = None  # name, or kind/name
    reason: str | None = None
    older_than: timedelta | None = None

    def wants(self, pod: RejectedPod, now: datetime) -> bool:
        """Tell whether a pod is meant."""
        age = pod.age(now)
        return (
            self.namespace in (None, pod.namespace)
            and self.node in (None, pod.node)
            and self.owner in (None, pod.owner, pod.owner_name)
            and (self.reason is None or _plain(self.reason) == _plain(pod.reason))
            and (self.older_than is None or (age is not None and age > self.older_than))
        )


def rejected_pods(
    failed: Iterable[PodView], now: datetime, wanted: Filter | None = None
) -> list[RejectedPod]:
    """Return the rejected pods that are meant, sorted by namespace, owner and time."""
    found = [one for pod in failed if (one := _rejected(pod)) is not None]
    if wanted is not None:
        found = [one for one in found if wanted.wants(one, now)]
    return sorted(found, key=lambda p: (p.namespace, p.owner, p.at or now, p.name))


def _rejected(pod: PodView) -> RejectedPod | None:
    meta, status, node = pod.meta, pod.status, pod.spec.node_name if pod.spec else None
    if status is None or status.phase != "Failed" or is_mirror(pod):
        return None
    kind = classify(status.reason, status.message)
    if kind is None or kind is Kind.OUT_OF:
        return None
    if kind is Kind.UNEXPECTED and not _OF_CORES.search(status.message or ""):
        return None
    owner = pod.controller
    kept, action = _kept(owner, meta.namespace or "", meta.name or "")
    return RejectedPod(
        meta.namespace or "",
        meta.name or "",
        meta.uid or "",
        node or "",
        status.reason or "",
        f"{owner.kind}/{owner.name}" if owner else "",
        owner.name if owner else "",
        read_time(status.start_time) or read_time(meta.creation_timestamp),
        kept,
        action,
    )


def _kept(owner: OwnerReference | None, namespace: str, name: str) -> tuple[str | None, str | None]:
    """Say why a pod is not deleted in bulk, and what a person can do."""
    delete = f"kubectl delete pod -n {namespace} {name}"
    if owner is None:
        return "no controller", (f"no controller makes another one: {delete}, and create it again")
    group = owner.api_version.rpartition("/")[0]
    if (group, owner.kind) in MADE_AGAIN:
        return None, None
    if (group, owner.kind) == ("batch", "Job"):
        return "its Job counts its failed pods", None
    return f"nobody knows what {owner.kind} makes of it", (
        f"only the operator of {owner.kind} ({group or 'v1'}) knows whether it makes another one: "
        f"if not, {delete}"
    )


def _plain(reason: str) -> str:
    return reason.replace(" ", "").lower()
