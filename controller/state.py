"""The pods that the controller works on, found by their owner.

For: indexes over what is watched, fed by `handlers`, asked by the reconcilers.
Not for: evidence (domain.evidence), or deciding anything.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from evencore.domain import names

if TYPE_CHECKING:
    from datetime import datetime

    from controller.views import LivePod
    from evencore.domain.views import FailedPodView, OwnerReference


class Owner(NamedTuple):
    """Who controls a pod, or the pod itself if nobody does."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def owner_of(reference: OwnerReference, namespace: str) -> Owner:
    """Return the owner that a reference in this namespace names."""
    return Owner(reference.api_version, reference.kind, namespace, reference.name, reference.uid)


class Newcomer(NamedTuple):
    """The node that joined last."""

    node: str
    since: datetime


class _Pod(Protocol):
    @property
    def controller(self) -> OwnerReference | None: ...


P = TypeVar("P", bound=_Pod)


class ByOwner(Generic[P]):
    """Pods by the key of their owner and their uid. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pods: defaultdict[str, dict[str, P]] = defaultdict(dict)

    def put(self, key: str, uid: str, pod: P) -> None:
        """Keep a pod."""
        with self._lock:
            self._pods[key][uid] = pod

    def drop(self, key: str, uid: str) -> None:
        """Forget a pod; fine if it is not known."""
        with self._lock:
            pods = self._pods.get(key)
            if pods is not None and pods.pop(uid, None) is not None and not pods:
                del self._pods[key]

    def of(self, key: str) -> dict[str, P]:
        """Return the pods of one owner, by uid; a copy."""
        with self._lock:
            return dict(self._pods.get(key, ()))

    def keys(self) -> list[str]:
        """Return the owners that have any."""
        with self._lock:
            return list(self._pods)


class State:
    """Everything that the reconcilers look at besides the Snapshot."""

    def __init__(self) -> None:
        self.steered: ByOwner[LivePod] = ByOwner()
        """Pods that we steer, alive: held, let go, or kept off nodes."""
        self.rejected: ByOwner[FailedPodView] = ByOwner()
        """Failed pods that their kubelet had refused."""
        self.exclusive: Counter[str] = Counter()
        """Node → pods on it that have CPUs of their own. Written by one thread."""
        self.owners: dict[str, Owner] = {}
        """Key → owner, for those above and their like, as they were seen last."""
        self.newcomer: Newcomer | None = None


def is_steered(pod: LivePod) -> bool:
    """Tell whether a pod is one that we hold, let go, or keep off nodes."""
    return pod.held or pod.steering in _STEERED


_STEERED = frozenset({names.HELD, names.RELEASED, names.EXCLUDED})
