"""What to tell of pods that the webhook changed, and of rejected ones that nobody controls.

Each is told of once, by the process that leads when it is seen: nothing is remembered.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from controller import texts
from controller.reading import Fresh, read_pod
from controller.state import owner_and_key
from evencore.domain import names
from evencore.domain.decision import never_fits
from evencore.domain.placement import Case
from evencore.domain.rejection import Kind, classify, read_time
from evencore.domain.scope import takes_part
from evencore.domain.views import PodSpec
from evencore.kube.events import About
from evencore.kube.outcome import Later

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.reporter import Reporter
    from controller.views import LivePod
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import FailedPodView
    from evencore.kube.writer import Writer

NEWS: Final = timedelta(minutes=10)
"""Of pods made longer ago somebody has told before us."""


class PlacedReconciler:
    """Tells what was done to a pod, and if no node can ever admit it."""

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        writer: Writer,
        pod: Callable[[str], LivePod | None],
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        reporter: Reporter,
        now: Callable[[], datetime],
    ) -> None:
        self._writer, self._pod = writer, pod
        self._policy, self._snapshot = policy, snapshot
        self._reporter, self._now = reporter, now

    def aligned(self, key: str) -> None:
        """Tell what was done to the CPUs of a pod (namespace/name)."""
        pod = self._pod(key)
        if pod is not None and self._age(pod) <= NEWS and (text := texts.aligned(pod)):
            self._reporter.tell(_whose(pod), names.CPU_ALIGNED, text)

    def fits(self, key: str) -> float | None:
        """Tell if no node can ever admit a pod; returns in how many seconds to look again.

        Each time after twice as long, for what is known of nodes may come later. One that is held
        is asked about when it is let go, however old it is then.
        """
        pod = self._pod(key)
        if pod is None or pod.spec.node_name or pod.held:
            return None
        if self._age(pod) > NEWS and pod.steering != names.RELEASED:
            return None
        fresh = read_pod(self._writer, pod.metadata)
        if not isinstance(fresh, Fresh):
            return fresh.seconds if isinstance(fresh, Later) else None
        spec, namespace = fresh.pod.spec or PodSpec(), pod.metadata.namespace
        case = Case(fresh.pod, spec, namespace, self._policy, self._snapshot(), self._now())
        why = never_fits(case)
        if why is None:
            return max(1.0, self._age(pod).total_seconds())
        about, owner = texts.about_pod(pod), _whose(pod)
        for whom in {about, owner}:
            self._reporter.tell(whom, names.NEVER_FITS, why, warning=True)
        return None

    def _age(self, pod: LivePod) -> timedelta:
        now = self._now()
        return now - (read_time(pod.metadata.creation_timestamp) or now)


class BareReconciler:
    """Tells of a rejected pod that nobody controls: nobody will make a new one, and nor do we."""

    def __init__(
        self,
        pod: Callable[[str], FailedPodView | None],
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        reporter: Reporter,
    ) -> None:
        self._pod, self._policy, self._snapshot = pod, policy, snapshot
        self._reporter = reporter

    def reconcile(self, key: str) -> None:
        """Look at one failed pod (namespace/name)."""
        pod = self._pod(key)
        if pod is None or pod.metadata is None or pod.status is None or pod.controller is not None:
            return
        meta, status = pod.metadata, pod.status
        namespace = meta.namespace or ""
        kind = classify(status.reason, status.message)
        view = self._snapshot().namespaces.get(namespace)
        if kind in {None, Kind.OUT_OF} or not takes_part(namespace, view, self._policy):
            return
        if meta.annotations and meta.annotations.mirror is not None:
            return
        node = pod.spec.node_name if pod.spec else None
        about = About("v1", "Pod", namespace, meta.name or "", meta.uid or "")
        text = texts.bare(node or "its node", status.reason or "")
        self._reporter.tell(about, names.TOPOLOGY_REJECTED, text, warning=True)


def _whose(pod: LivePod) -> About:
    """Point at a pod's owner, where people look; at the pod if it has none."""
    return texts.about(owner_and_key(pod)[0])
