"""One owner with rejections or steered pods: let go, replace, clean up, tell.

Not for: when and what; those are decisions of evencore.domain and `flock`. Here they are carried
out, pods let go before anything is deleted; what fails is tried again and holds up nothing else.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from controller import texts
from controller.cleaner import CLEANED, Cleaner, misaligned
from controller.flock import flock, waits_in_vain
from controller.reading import read_pod
from evencore import metrics
from evencore.domain import names
from evencore.domain.cleaning import superfluous
from evencore.domain.decision import Decision
from evencore.domain.release import release
from evencore.domain.verdict import HELD_KINDS, exclusions
from evencore.kube.outcome import Done, Gone, Later

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from controller.expectations import Expectations
    from controller.releaser import Releaser
    from controller.reporter import Reporter
    from controller.state import Owner, State
    from controller.views import LivePod
    from evencore.domain.evidence import Evidence
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.verdict import Exclusion
    from evencore.kube.client import Client
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

LONGEST_S: Final = 60.0
"""Nobody sleeps longer: time passes, and a wall clock may be set."""


class OwnerReconciler:
    """Brings one owner nearer to peace each time."""

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        client: Client,
        state: State,
        snapshot: Callable[[], Snapshot],
        policy: Policy,
        releaser: Releaser,
        writer: Writer,
        reporter: Reporter,
        expectations: Expectations,
        now: Callable[[], datetime],
    ) -> None:
        self._client, self._state = client, state
        self._snapshot, self._policy = snapshot, policy
        self._releaser, self._writer, self._reporter = releaser, writer, reporter
        self._expectations, self._now = expectations, now
        self._cleaner = Cleaner(writer, expectations)
        self._told = texts.Told()

    def reconcile(self, key: str) -> float | None:
        """Look at one owner (`evidence.owner_key`); returns in how many seconds to do so again."""
        now, snapshot = self._now(), self._snapshot()
        evidence = snapshot.evidence.of(key, now)
        excluded = exclusions(evidence.nodes, snapshot.rooms, now, self._policy.exclusions)
        steered = self._state.steered.of(key)
        owner = self._state.owners.get(key)
        if owner is None:
            return None
        again = [
            self._release(owner, steered, evidence, snapshot),
            self._replace(owner, steered, excluded),
            self._clean(owner, key, snapshot, evidence.newest),
            *((e.until - now).total_seconds() for e in excluded if steered),
        ]
        self._tell(owner, key, evidence, excluded, steered)
        if not steered and not self._state.rejected.of(key):
            self._state.owners.pop(key, None)
            self._told.forget(key)
            return None
        return min((max(0.0, s) for s in again if s is not None), default=LONGEST_S)

    def _release(
        self,
        owner: Owner,
        pods: Mapping[str, LivePod],
        evidence: Evidence,
        snapshot: Snapshot,
    ) -> float | None:
        """Let held pods go that may."""
        now = self._now()
        found = flock(pods.values(), self._expectations.pending, now)
        rooms = {n.node: snapshot.rooms[n.node] for n in evidence.nodes if n.node in snapshot.rooms}
        if newcomer := self._state.newcomer:
            rooms[newcomer.node] = newcomer.since
        plan = release(found, evidence, rooms, now, self._policy.holds)
        again = (plan.again - now).total_seconds() if plan.again else None
        for uid in plan.pods:
            result = self._releaser.let_go(pods[uid], plan)
            if isinstance(result, Decision):
                self._expectations.expect(uid)
                metrics.PODS_RELEASED.inc()
                text = "; ".join(result.sentences)
                self._reporter.tell(texts.about_pod(pods[uid]), names.POD_RELEASED, text)
                self._reporter.tell(texts.about(owner), names.POD_RELEASED, text)
            elif result is not None:
                return result
        return again

    def _replace(
        self, owner: Owner, pods: Mapping[str, LivePod], excluded: tuple[Exclusion, ...]
    ) -> float | None:
        """Delete waiting pods whose exclusions have all ended: their owner makes fresh ones.

        Not those of a Job: it would count them as failed, against its backoffLimit.
        """
        if owner.kind not in HELD_KINDS or owner.kind == "Job":
            return None
        nodes = frozenset(
            name for e in excluded for name in (e.node, names.node_label_value(e.node))
        )
        for uid, pod in pods.items():
            if self._expectations.pending(uid) or not waits_in_vain(pod, nodes):
                continue
            meta, fresh = pod.metadata, read_pod(self._client, pod.metadata)
            if isinstance(fresh, Later):
                return fresh.seconds
            if isinstance(fresh, Gone) or (fresh.pod.spec and fresh.pod.spec.node_name):
                continue
            # By its version: if the scheduler has found a node meanwhile, it is left alone.
            outcome = self._writer.delete_pod(fresh.ref)
            if isinstance(outcome, Later):
                return outcome.seconds
            if isinstance(outcome, Done):
                self._expectations.expect(uid)
                metrics.PODS_REPLACED.inc()
                _log.info("%s/%s: %s", meta.namespace, meta.name, texts.REPLACED)
        return None

    def _clean(
        self, owner: Owner, key: str, snapshot: Snapshot, newest: datetime | None
    ) -> float | None:
        if owner.kind not in CLEANED:
            return None
        now, pods = self._now(), self._state.rejected.of(key)
        if not pods:
            return None
        uids = superfluous(snapshot.evidence.all_of(key), now, self._policy)
        uids += misaligned(pods, self._policy.rejections.keep)
        deleted, again = self._cleaner.clean(pods, uids, newest, now)
        if deleted:
            metrics.PODS_DELETED.inc(deleted)
            text = texts.deleted(deleted, len(pods) - deleted)
            self._reporter.tell(texts.about(owner), names.REJECTED_PODS_DELETED, text)
        return again

    def _tell(
        self,
        owner: Owner,
        key: str,
        evidence: Evidence,
        excluded: tuple[Exclusion, ...],
        pods: Mapping[str, LivePod],
    ) -> None:
        """Tell what is new since the last time."""
        about = texts.about(owner)
        if news := self._told.rejections(key, evidence):
            self._reporter.tell(about, names.TOPOLOGY_REJECTED, news, warning=True)
        if excluded and (news := self._told.exclusions(key, excluded)):
            self._reporter.tell(about, names.NODE_EXCLUDED, news)
        for pod in pods.values():
            if pod.held and self._told.is_new(key, pod.metadata.uid):
                metrics.PODS_HELD.inc()
                text = texts.held(pod)
                self._reporter.tell(texts.about_pod(pod), names.POD_HELD, text)
                self._reporter.tell(about, names.POD_HELD, text)
