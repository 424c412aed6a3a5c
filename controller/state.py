"""What the controller works on, found by owner or by node.

For: indexes over what is watched, fed by `handlers`, asked by the reconcilers.
Not for: evidence (domain.evidence), or deciding anything.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from controller.limbo import Limbo
from controller.recent import Recent
from evencore.domain import names
from evencore.domain.rejection import owner_key

if TYPE_CHECKING:
    from datetime import datetime

    from controller.views import LivePod
    from evencore.domain.exclusive import Exclusive
    from evencore.domain.learnt import Learnt
    from evencore.domain.rejection import Rejection
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


def owner_and_key(pod: LivePod) -> tuple[Owner, str]:
    """Return the owner of a live pod and its key; a pod that nobody controls is its own.

    One whose owner was deleted without it may still be held, and must be let go.
    """
    meta, reference = pod.metadata, pod.controller
    if reference is None:
        return Owner("v1", "Pod", meta.namespace, meta.name, meta.uid), f"Pod/{meta.uid}"
    return owner_of(reference, meta.namespace), owner_key(reference, meta.namespace)


class Rejected(NamedTuple):
    """A failed pod, and how its kubelet refused it."""

    pod: FailedPodView
    rejection: Rejection


class Newcomer(NamedTuple):
    """The node that joined last, or offers something else than before: more, let us hope."""

    node: str
    since: datetime


V = TypeVar("V")


class Groups(Generic[V]):
    """Values of pods by what they belong to and by their uid. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: defaultdict[str, dict[str, V]] = defaultdict(dict)

    def put(self, key: str, uid: str, value: V) -> None:
        """Keep the value of a pod."""
        with self._lock:
            self._groups[key][uid] = value

    def drop(self, key: str, uid: str) -> bool:
        """Forget a pod; tells whether it was known."""
        with self._lock:
            group = self._groups.get(key, {})
            known = group.pop(uid, None) is not None
            if known and not group:
                del self._groups[key]
            return known

    def of(self, key: str) -> dict[str, V]:
        """Return one group, by uid; a copy."""
        with self._lock:
            return dict(self._groups.get(key, ()))

    def has(self, key: str, uid: str) -> bool:
        """Tell whether a pod is in a group."""
        with self._lock:
            return uid in self._groups.get(key, ())

    def last(self, key: str) -> V | None:
        """Return the value that came into a group last."""
        with self._lock:
            return next(reversed(self._groups.get(key, {}).values()), None)

    def groups(self) -> list[str]:
        """Return the groups that there are."""
        with self._lock:
            return list(self._groups)


class State:
    """Everything that the reconcilers look at besides the Snapshot."""

    def __init__(self, limbo: Limbo | None = None) -> None:
        self.steered: Groups[LivePod] = Groups()
        """By owner: pods that we steer, alive: held, let go, or kept off nodes."""
        self.rejected: Groups[Rejected] = Groups()
        """By owner: failed pods that their kubelet had refused."""
        self.exclusive: Groups[Exclusive] = Groups()
        """By node: pods with CPUs of their own."""
        self.learnt: dict[str, Learnt] = {}
        """Node → what its kubelet told. Written by the thread of the failed pods."""
        self.limbo = limbo or Limbo()
        self.newcomer: Newcomer | None = None
        self._owners: Recent[Owner] = Recent()

    def saw(self, key: str, owner: Owner) -> None:
        """Remember an owner for a while, even if its pods are gone: a StatefulSet's are at once."""
        self._owners.put(key, owner)

    def owner(self, key: str) -> Owner | None:
        """Return an owner that has pods here, or had some."""
        steered = self.steered.last(key)
        if steered is not None:
            return owner_and_key(steered)[0]
        rejected = self.rejected.last(key)
        if rejected is not None and (reference := rejected.pod.controller):
            return owner_of(reference, rejected.rejection.namespace)
        return self._owners.get(key)


def is_steered(pod: LivePod) -> bool:
    """Tell whether a pod is one that we hold, let go, or keep off nodes."""
    return pod.held or pod.steering in _STEERED


_STEERED = frozenset({names.HELD, names.RELEASED, names.EXCLUDED})
