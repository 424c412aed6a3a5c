"""One owner with rejections or steered pods: let go, replace, clean up, tell.

Not for: when and what; those are decisions of evencore.domain and `flock`. Here they are carried
out, pods let go before anything is deleted; what fails is tried again and holds up nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from controller.cleaner import is_cleaned
from controller.flock import flock, waits
from controller.limbo import LIMBO_S
from evencore.domain import names
from evencore.domain.annotations import policy_for
from evencore.domain.cleaning import superfluous
from evencore.domain.decision import Decision
from evencore.domain.policy import OnRejection
from evencore.domain.release import hopeful, release
from evencore.domain.scope import takes_part
from evencore.domain.verdict import exclusions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from controller.cleaner import Cleaner
    from controller.expectations import Expectations
    from controller.releaser import Releaser
    from controller.replacer import Replacer
    from controller.state import Owner, State
    from controller.teller import Teller
    from controller.views import LivePod
    from evencore.domain.evidence import Evidence
    from evencore.domain.policy import Policy
    from evencore.domain.release import Release
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.verdict import Exclusion

LONGEST_S: Final = 60.0
"""Nobody who has something to wait for sleeps longer: a wall clock may be set."""

FORCED_AT_A_TIME: Final = 20
"""Of pods that were held for too long, before other owners get their turn."""

_NOT_STEERED: Final = frozenset({"DaemonSet"})  # design, section 4: aligned, nothing more


class Hands(NamedTuple):
    """Who carries things out."""

    releaser: Releaser
    replacer: Replacer
    cleaner: Cleaner
    teller: Teller


class OwnerReconciler:
    """Brings one owner nearer to peace each time."""

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        state: State,
        snapshot: Callable[[], Snapshot],
        policy: Policy,
        hands: Hands,
        expectations: Expectations,
        now: Callable[[], datetime],
    ) -> None:
        self._state, self._snapshot, self._policy = state, snapshot, policy
        self._hands, self._expectations, self._now = hands, expectations, now

    def reconcile(self, key: str) -> float | None:
        """Look at one owner (`rejection.owner_key`); returns in how many seconds to do so again."""
        owner = self._state.owner(key)
        if owner is None:
            return None
        now, snapshot = self._now(), self._snapshot()
        evidence = snapshot.evidence.of(key, now)
        steered = self._state.steered.of(key)
        excluded = exclusions(evidence.nodes, snapshot.rooms, now, self._policy.exclusions)
        # Whatever became of its namespace, a pod that is held is let go.
        again = [self._release(owner, key, steered, evidence, snapshot)]
        view = snapshot.namespaces.get(owner.namespace)
        if takes_part(owner.namespace, view, self._policy):
            written = (view.metadata.annotations if view and view.metadata else None) or {}
            self._tell(owner, key, evidence, excluded, steered, written)
            again += [
                self._replace(owner, steered, excluded, now),
                self._clean(owner, key, snapshot, written, now),
            ]
        return min((max(0.0, s) for s in again if s is not None), default=None)

    def _release(
        self,
        owner: Owner,
        key: str,
        pods: Mapping[str, LivePod],
        evidence: Evidence,
        snapshot: Snapshot,
    ) -> float | None:
        """Let held pods go that may."""
        now, lost = self._now(), self._state.limbo.of(key)
        # A pod that the API server does not let us touch is not to keep the others waiting.
        touched = [pod for uid, pod in pods.items() if not self._hands.releaser.refused(uid)]
        found = flock(touched, self._expectations.pending, now, lost)
        rooms = hopeful(evidence, snapshot.rooms, self._state.newcomer)
        plan = release(found, evidence, rooms, now, self._policy.holds.of(owner.kind))
        chosen = plan.pods[:FORCED_AT_A_TIME] if plan.forced else plan.pods
        for uid in chosen:
            result = self._hands.releaser.let_go(pods[uid], plan)
            if isinstance(result, Decision):
                self._hands.teller.released(owner, pods[uid], "; ".join(result.sentences))
            elif result is not None and not self._hands.releaser.refused(uid):
                return result
        if len(chosen) < len(plan.pods) or any(map(self._hands.releaser.refused, chosen)):
            return 0.0
        if found.held or found.shared:
            return _again_s(plan, now, lost)
        return LONGEST_S if len(touched) < len(pods) else None

    def _replace(
        self,
        owner: Owner,
        pods: Mapping[str, LivePod],
        excluded: tuple[Exclusion, ...],
        now: datetime,
    ) -> float | None:
        """Have waiting pods made anew that nothing keeps off any node now."""
        if not any(map(waits, pods.values())):
            return None
        again = self._hands.replacer.replace(owner, pods, excluded)
        if again is None:
            ends = ((e.until - now).total_seconds() for e in excluded)
            again = min(ends, default=LONGEST_S)
        return min(again, LONGEST_S)

    def _clean(
        self,
        owner: Owner,
        key: str,
        snapshot: Snapshot,
        namespace: Mapping[str, str],
        now: datetime,
    ) -> float | None:
        pods = self._state.rejected.of(key) if is_cleaned(owner) else {}
        if not pods:
            return None
        uids = frozenset(superfluous(snapshot.evidence.pods_of(key), now, self._policy))
        deleted, again = self._hands.cleaner.clean(pods, uids, namespace, now)
        if deleted:
            self._hands.teller.deleted(owner, deleted, len(pods) - deleted)
        return LONGEST_S if again is None else again

    def _tell(  # noqa: PLR0913, PLR0917  what there may be to tell
        self,
        owner: Owner,
        key: str,
        evidence: Evidence,
        excluded: tuple[Exclusion, ...],
        steered: Mapping[str, LivePod],
        namespace: Mapping[str, str],
    ) -> None:
        """Tell what is new since the last time."""
        teller, rejected = self._hands.teller, self._state.rejected.of(key)
        bound = teller.rejections(owner, key, evidence, rejected)
        last = self._state.rejected.last(key)
        meta = last.pod.metadata if last else None
        wish = meta.annotations.on_rejection if meta and meta.annotations else None
        written = {} if wish is None else {names.ON_REJECTION: wish}
        asked = policy_for(self._policy, written, namespace, ()).on_rejection
        if not bound and owner.kind not in _NOT_STEERED and asked is not OnRejection.REPORT:
            teller.exclusions(owner, key, excluded)
        teller.holds(owner, key, steered.values())


def _again_s(plan: Release, now: datetime, lost: int) -> float:
    """Return when to think again about the held pods of an owner."""
    if lost:  # what became of those out of sight is known, or they are given up, soon
        return LIMBO_S
    again_s = (plan.again - now).total_seconds() if plan.again else LONGEST_S
    return min(again_s, LONGEST_S)
