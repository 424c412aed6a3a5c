"""Deletes rejected pods that nobody needs, slowly; waits for those that are on their way out.

Not for: Jobs, StatefulSets and DaemonSets, whose controllers see to it themselves: a Job's failed
pods are its bookkeeping.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from controller.recent import Recent
from evencore.domain import names
from evencore.domain.annotations import policy_for
from evencore.domain.policy import OnRejection
from evencore.domain.rejection import Kind, read_time
from evencore.domain.verdict import may_be_held
from evencore.kube.outcome import Done, Gone, Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from controller.expectations import Expectations
    from controller.state import Owner, Rejected
    from evencore.domain.policy import Policy
    from evencore.domain.views import FailedPodView
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

_KINDS: Final = frozenset({"ReplicaSet", "ReplicationController"})

AT_A_TIME: Final = 10
"""Pods deleted before others get their turn ..."""
PAUSE_S: Final = 1.0
"""... and how long until the next."""
QUIET: Final = timedelta(seconds=10)
"""An owner that was rejected within this time may loop: deleting as fast as it makes pods would
only double the work of the API server. It may have this many leftovers ..."""
LEFT_IN_A_LOOP: Final = 50
"""... and beyond them this is how long until the next few: one a second in all."""
PAUSE_IN_A_LOOP_S: Final = 10.0

OVERDUE: Final = timedelta(minutes=5)
"""A pod that is still Terminating so long after its grace period is deleted without grace, once a
minute at most: it failed, so nothing of it runs (kubernetes/kubernetes#118472)."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Cleaned(NamedTuple):
    """What was done."""

    deleted: int = 0
    again_s: float | None = None  # until there is more to do


def is_cleaned(owner: Owner) -> bool:
    """Tell whether rejected pods of an owner are cleaned up: it leaves them lying about."""
    return owner.kind in _KINDS and may_be_held(owner)


class Cleaner:
    """Deletes pods."""

    def __init__(self, writer: Writer, policy: Policy, expectations: Expectations) -> None:
        self._writer, self._policy, self._expectations = writer, policy, expectations
        self._told: Recent[bool] = Recent()  # pods that others keep

    def clean(
        self,
        pods: Mapping[str, Rejected],
        superfluous: Container[str],
        namespace: Mapping[str, str],
        now: datetime,
    ) -> Cleaned:
        """Delete those of the rejected pods of one owner that nobody needs.

        `superfluous`: the uids of those that no verdict needs. `namespace`: its annotations.
        """
        newest = max((one.rejection.at or _NEVER for one in pods.values()), default=_NEVER)
        loops = now - newest < QUIET
        if loops and len(pods) <= LEFT_IN_A_LOOP:
            return Cleaned(0, (newest + QUIET - now).total_seconds())
        misaligned = _misaligned(pods, self._policy.rejections.keep)
        deleted = asked = 0
        for uid, one in pods.items():
            force = overdue(one.pod, now)
            if not force and not (uid in superfluous or uid in misaligned):
                continue
            if self._expectations.pending(uid) or not self._may_delete(one, namespace, force=force):
                continue
            if asked == AT_A_TIME:
                return Cleaned(deleted, PAUSE_IN_A_LOOP_S if loops else PAUSE_S)
            asked += 1
            ref = Ref(one.rejection.namespace, one.rejection.pod, uid)
            self._expectations.expect(uid)
            outcome = self._writer.delete_pod(ref, force=force)
            if isinstance(outcome, Later):
                self._expectations.met(uid)
                return Cleaned(deleted, outcome.seconds)
            # If it was refused, or another pod has the name by now: not again before long.
            if isinstance(outcome, Gone):
                self._expectations.met(uid)
            elif isinstance(outcome, Done):
                deleted += 1
            else:
                _log.warning("%s/%s is not deleted: %s", ref.namespace, ref.name, outcome.why)
        return Cleaned(deleted)

    def _may_delete(self, one: Rejected, namespace: Mapping[str, str], *, force: bool) -> bool:
        """Tell whether nobody else keeps a pod, and whether its author leaves it to us."""
        meta = one.pod.metadata
        if meta is None or (meta.labels and meta.labels.admission == names.DISABLED):
            return False
        if meta.deletion_timestamp is not None and not force:
            if meta.finalizers and self._told.changes(one.rejection.uid, value=True):
                text = "%s/%s was deleted, but stays for finalizers of others: %s"
                _log.warning(text, meta.namespace, meta.name, ", ".join(meta.finalizers))
            return False
        wish = meta.annotations.on_rejection if meta.annotations else None
        written = {names.ON_REJECTION: wish} if wish is not None else {}
        asked = policy_for(self._policy, written, namespace, ())
        return asked.on_rejection is not OnRejection.REPORT


def overdue(pod: FailedPodView, now: datetime) -> bool:
    """Tell whether a failed pod hangs in Terminating, and nobody's finalizer is the reason."""
    meta = pod.metadata
    due = read_time(meta.deletion_timestamp) if meta else None  # its grace period is in it
    return due is not None and not (meta and meta.finalizers) and now - due > OVERDUE


def _misaligned(pods: Mapping[str, Rejected], keep: int) -> frozenset[str]:
    """Return the uids of pods that asked for odd CPUs, but for the newest `keep`."""
    found = sorted(
        (one.rejection.at or _NEVER, uid)
        for uid, one in pods.items()
        if one.rejection.kind is Kind.MISALIGNED
    )
    return frozenset(uid for _, uid in found[: max(0, len(found) - keep)])
