"""What to tell of pods that the webhook changed, and of rejected ones that nobody controls."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from controller import texts
from controller.reading import read_pod
from controller.state import owner_of
from evencore.domain import names
from evencore.domain.decision import never_fits
from evencore.domain.placement import Case
from evencore.domain.rejection import classify, read_time
from evencore.domain.views import PodSpec
from evencore.kube.events import About
from evencore.kube.outcome import Gone, Later

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.reporter import Reporter
    from controller.views import LivePod
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import FailedPodView
    from evencore.kube.client import Client

NEWS: Final = timedelta(minutes=10)
"""Of pods made longer ago somebody has told before us."""

SETTLING: Final = timedelta(seconds=5)
"""A pod that has no node after so long waits for something: time to ask whether one can fit."""


class PlacedReconciler:
    """Tells what was done to a pod, and if no node can ever admit it."""

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        client: Client,
        pod: Callable[[str], LivePod | None],
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        reporter: Reporter,
        now: Callable[[], datetime],
    ) -> None:
        self._client, self._pod = client, pod
        self._policy, self._snapshot = policy, snapshot
        self._reporter, self._now = reporter, now
        self._told: dict[str, str] = {}  # namespace/name → uid

    def reconcile(self, key: str) -> float | None:
        """Look at one pod (namespace/name); returns in how many seconds to do so again."""
        pod = self._pod(key)
        if pod is None:
            self._told.pop(key, None)
            return None
        made = read_time(pod.metadata.creation_timestamp) or self._now()
        age = self._now() - made
        if age > NEWS:
            return None
        written = pod.metadata.annotations
        if written and written.original_cpu and self._told.get(key) != pod.metadata.uid:
            self._told[key] = pod.metadata.uid
            self._reporter.tell(_whose(pod), names.CPU_ALIGNED, texts.aligned(pod))
        if pod.spec.node_name or pod.held:
            return None
        if age < SETTLING:
            return (SETTLING - age).total_seconds()
        return self._fits(pod)

    def _fits(self, pod: LivePod) -> float | None:
        fresh = read_pod(self._client, pod.metadata)
        if isinstance(fresh, Later):
            return fresh.seconds
        if isinstance(fresh, Gone):
            return None
        view = fresh.pod
        why = never_fits(
            Case(
                view,
                view.spec or PodSpec(),
                pod.metadata.namespace,
                self._policy,
                self._snapshot(),
                self._now(),
            )
        )
        if why is not None:
            self._reporter.tell(texts.about_pod(pod), names.NEVER_FITS, why, warning=True)
            self._reporter.tell(_whose(pod), names.NEVER_FITS, why, warning=True)
        return None


class BareReconciler:
    """Tells of a rejected pod that nobody controls: nobody will make a new one, and nor do we."""

    def __init__(self, pod: Callable[[str], FailedPodView | None], reporter: Reporter) -> None:
        self._pod, self._reporter = pod, reporter
        self._told: dict[str, str] = {}

    def reconcile(self, key: str) -> float | None:
        """Look at one failed pod (namespace/name)."""
        pod = self._pod(key)
        meta = pod.metadata if pod else None
        if pod is None or meta is None or pod.status is None:
            self._told.pop(key, None)
            return None
        uid = meta.uid or ""
        if classify(pod.status.reason, pod.status.message) and self._told.get(key) != uid:
            self._told[key] = uid
            node = pod.spec.node_name if pod.spec else None
            about = About("v1", "Pod", meta.namespace or "", meta.name or "", uid)
            text = texts.bare(node or "its node", pod.status.reason or "")
            self._reporter.tell(about, names.TOPOLOGY_REJECTED, text, warning=True)
        return None


def _whose(pod: LivePod) -> About:
    """Point at a pod's owner, where people look; at the pod if it has none."""
    owner = pod.controller
    if owner is None:
        return texts.about_pod(pod)
    return texts.about(owner_of(owner, pod.metadata.namespace))
