"""Has waiting pods made anew when all their exclusions have ended: a pod's cannot be taken back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from controller import texts
from controller.flock import waits_in_vain
from controller.reading import Fresh, read_pod
from evencore import metrics
from evencore.domain.verdict import may_be_held
from evencore.kube.outcome import Done, Later

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.expectations import Expectations
    from controller.state import Owner
    from controller.views import LivePod
    from controller.workload import Workloads
    from evencore.domain.verdict import Exclusion
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

PAUSE_S: Final = 1.0
"""Between two pods of one owner: if the first is rejected, the others have an exclusion again."""

RETRIES: Final = 2
"""A Job counts a deleted pod as failed. It must be able to lose this one and one more."""


class Replacer:
    """Deletes pods whose owner makes new ones."""

    def __init__(self, writer: Writer, workloads: Workloads, expectations: Expectations) -> None:
        self._writer, self._workloads, self._expectations = writer, workloads, expectations

    def replace(
        self, owner: Owner, pods: Mapping[str, LivePod], excluded: Iterable[Exclusion]
    ) -> float | None:
        """Delete one pod that waits in vain; returns in how many seconds to look for the next."""
        excluded = tuple(excluded)
        if not may_be_held(owner):  # whether anybody would make a new one is not known
            return None
        for uid, pod in pods.items():
            if self._expectations.pending(uid) or not waits_in_vain(pod, excluded):
                continue
            if owner.kind == "Job" and not self._may_lose_one(owner):
                return None
            return self._delete(pod)
        return None

    def _may_lose_one(self, job: Owner) -> bool:
        found = self._workloads.read(job)
        return found is not None and found.retries_left >= RETRIES

    def _delete(self, pod: LivePod) -> float:
        meta, fresh = pod.metadata, read_pod(self._writer, pod.metadata)
        if not isinstance(fresh, Fresh):
            return fresh.seconds if isinstance(fresh, Later) else PAUSE_S
        if fresh.pod.spec and fresh.pod.spec.node_name:
            return PAUSE_S
        self._expectations.expect(meta.uid)
        # By its version: if the scheduler has found a node meanwhile, it is left alone.
        outcome = self._writer.delete_pod(fresh.ref)
        if isinstance(outcome, Done):
            metrics.PODS_REPLACED.inc()
            _log.info("%s/%s: %s", meta.namespace, meta.name, texts.REPLACED)
            return PAUSE_S
        if isinstance(outcome, Later):
            self._expectations.met(meta.uid)
            return outcome.seconds
        # Refused, gone or changed meanwhile: what is seen of it will tell, in a while.
        _log.info("%s/%s is not replaced: %s", meta.namespace, meta.name, outcome.why)
        return PAUSE_S
