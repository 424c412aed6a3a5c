"""Tells of an owner what is new since it was told of last.

Not for: folding and writing Events; that is `reporter`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller import texts
from controller.recent import Recent
from evencore import metrics
from evencore.domain import names
from evencore.domain.rejection import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from controller.reporter import Reporter
    from controller.state import Owner, Rejected
    from controller.views import LivePod
    from controller.workload import Workloads
    from evencore.domain.evidence import Evidence
    from evencore.domain.verdict import Exclusion

_SUSPICIOUS = 3
"""So many rejections, and all on one node: does the template name it?"""


class Teller:
    """Remembers what was told. One owner is looked at by one worker at a time."""

    def __init__(self, reporter: Reporter, workloads: Workloads) -> None:
        self._reporter, self._workloads = reporter, workloads
        self._newest: Recent[datetime] = Recent()
        self._excluded: Recent[frozenset[str]] = Recent()
        self._held: Recent[frozenset[str]] = Recent()

    def rejections(
        self, owner: Owner, key: str, evidence: Evidence, pods: Mapping[str, Rejected]
    ) -> bool:
        """Tell of rejections that are new; returns whether the owner's template names a node."""
        rejected = [p.rejection for p in pods.values() if p.rejection.kind is not Kind.OUT_OF]
        newest = max((r.at for r in rejected if r.at), default=None)
        newest = max((at for at in (newest, evidence.newest) if at), default=None)
        workload = None
        if (owner.kind == "Job" and newest) or _on_one_node(evidence):
            workload = self._workloads.recent(owner)
        known = self._newest.get(key)
        if newest is not None and (known is None or newest > known):
            self._newest.put(key, newest)
            text = texts.rejections(evidence, rejected, owner, workload)
            about = texts.about(owner)
            self._reporter.tell(about, names.TOPOLOGY_REJECTED, text, warning=True)
        return workload is not None and workload.node_name is not None

    def exclusions(self, owner: Owner, key: str, excluded: Sequence[Exclusion]) -> None:
        """Tell of nodes that are excluded since, or for longer."""
        sentences = frozenset(e.sentence for e in excluded)
        known = self._excluded.get(key) or frozenset()
        self._excluded.put(key, sentences)
        if sentences - known:
            text = "; ".join(e.sentence for e in excluded)
            self._reporter.tell(texts.about(owner), names.NODE_EXCLUDED, text)

    def holds(self, owner: Owner, key: str, pods: Iterable[LivePod]) -> None:
        """Tell of pods that are held and were not."""
        held = {pod.metadata.uid: pod for pod in pods if pod.held}
        known = self._held.get(key) or frozenset()
        self._held.put(key, frozenset(held))
        for uid, pod in held.items():
            if uid not in known:
                metrics.PODS_HELD.inc()
                self._both(owner, pod, names.POD_HELD, texts.held(pod))

    def released(self, owner: Owner, pod: LivePod, text: str) -> None:
        """Tell that a pod was let go, and where it may go."""
        metrics.PODS_RELEASED.inc()
        self._both(owner, pod, names.POD_RELEASED, text)

    def deleted(self, owner: Owner, number: int, left: int) -> None:
        """Tell that rejected pods were deleted."""
        metrics.PODS_DELETED.inc(number)
        text = texts.deleted(number, left)
        self._reporter.tell(texts.about(owner), names.REJECTED_PODS_DELETED, text)

    def _both(self, owner: Owner, pod: LivePod, reason: str, text: str) -> None:
        about, about_owner = texts.about_pod(pod), texts.about(owner)
        self._reporter.tell(about, reason, text)
        if about_owner != about:
            self._reporter.tell(about_owner, reason, text)


def _on_one_node(evidence: Evidence) -> bool:
    return len(evidence.nodes) == 1 and evidence.nodes[0].rejections >= _SUSPICIOUS
