"""Deletes rejected pods that nobody needs, slowly; waits for those that are on their way out.

Not for: Jobs, StatefulSets and DaemonSets, whose controllers see to it themselves: a Job's failed
pods are its bookkeeping.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from evencore.domain.rejection import Kind, read_time, rejection_of
from evencore.kube.outcome import Done, Gone, Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from controller.expectations import Expectations
    from evencore.domain.views import FailedPodView
    from evencore.kube.writer import Writer

CLEANED: Final = frozenset({"ReplicaSet", "ReplicationController"})
"""Kinds of owners whose rejected pods are cleaned up: those that leave them lying about."""

AT_A_TIME: Final = 10
"""Pods deleted before others get their turn ..."""
PAUSE_S: Final = 1.0
"""... and how long until the next."""
QUIET: Final = timedelta(seconds=10)
"""An owner that was rejected within this time may loop: deleting as fast as it makes pods would
only double the work of the API server, so it may have this many leftovers:"""
LEFT_IN_A_LOOP: Final = 50

OVERDUE: Final = timedelta(minutes=5)
"""A pod that is still Terminating so long after its grace period is deleted without grace, once:
it failed, so nothing of it runs (kubernetes/kubernetes#118472)."""


def overdue(pod: FailedPodView, now: datetime) -> bool:
    """Tell whether a failed pod hangs in Terminating, and nobody's finalizer is the reason."""
    meta = pod.metadata
    asked = read_time(meta.deletion_timestamp) if meta else None
    return asked is not None and not (meta and meta.finalizers) and now - asked > OVERDUE


class Cleaner:
    """Deletes pods."""

    def __init__(self, writer: Writer, expectations: Expectations) -> None:
        self._writer, self._expectations = writer, expectations

    def clean(
        self,
        pods: Mapping[str, FailedPodView],
        superfluous: Iterable[str],
        newest: datetime | None,
        now: datetime,
    ) -> tuple[int, float | None]:
        """Delete the pods of these uids; returns how many, and in how many seconds to go on.

        `newest`: when their owner was rejected last.
        """
        if newest is not None and now - newest < QUIET and len(pods) <= LEFT_IN_A_LOOP:
            return 0, (newest + QUIET - now).total_seconds()
        deleted = 0
        for uid, force in self._candidates(pods, superfluous, now):
            if deleted == AT_A_TIME:
                return deleted, PAUSE_S
            meta = pods[uid].metadata
            if meta is None:
                continue
            ref = Ref(meta.namespace or "", meta.name or "", uid)
            outcome = self._writer.delete_pod(ref, force=force)
            if isinstance(outcome, Later):
                return deleted, outcome.seconds
            # Refused, or another pod by now: not again before long.
            self._expectations.expect(uid)
            deleted += isinstance(outcome, Done | Gone)
        return deleted, None

    def _candidates(
        self, pods: Mapping[str, FailedPodView], superfluous: Iterable[str], now: datetime
    ) -> Iterable[tuple[str, bool]]:
        for uid in superfluous:
            pod = pods.get(uid)
            if pod is None or self._expectations.pending(uid):
                continue
            if pod.metadata is None or pod.metadata.deletion_timestamp is None:
                yield uid, False
        for uid, pod in pods.items():
            if overdue(pod, now) and not self._expectations.pending(uid):
                yield uid, True


def misaligned(pods: Mapping[str, FailedPodView], keep: int) -> list[str]:
    """Return the uids of pods that asked for odd CPUs, but for the newest `keep`."""
    found = []
    for uid, pod in pods.items():
        rejection = rejection_of(pod)
        if rejection and rejection.kind is Kind.MISALIGNED:
            found.append((rejection.at.timestamp() if rejection.at else 0.0, uid))
    return [uid for _, uid in sorted(found)[: max(0, len(found) - keep)]]
