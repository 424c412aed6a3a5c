"""Lets held pods go: one patch takes our gate off and keeps the pod off excluded nodes."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from controller.expectations import Expectations
from controller.reading import REFUSED_S, Fresh, read_pod
from evencore.domain import names
from evencore.domain.decision import let_go
from evencore.domain.patching import operations
from evencore.domain.placement import Case
from evencore.domain.views import PodSpec
from evencore.kube.outcome import RETRY_S, Conflict, Done, Later, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.views import LivePod
    from evencore.domain.decision import Decision
    from evencore.domain.policy import Policy
    from evencore.domain.release import Release
    from evencore.domain.snapshot import Snapshot
    from evencore.kube.outcome import Outcome
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)


class Releaser:
    """Reads a held pod as it is now, decides where it may go, and writes that."""

    def __init__(  # noqa: PLR0913  the last one has a default
        self,
        writer: Writer,
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        expectations: Expectations,
        now: Callable[[], datetime],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer, self._policy, self._snapshot = writer, policy, snapshot
        self._expectations, self._now = expectations, now
        self._refused = Expectations(clock)

    def refused(self, uid: str) -> bool:
        """Tell whether the API server would not let us let a pod go, a short while ago."""
        return self._refused.pending(uid)

    def let_go(self, pod: LivePod, release: Release) -> Decision | float | None:
        """Let a pod go; returns what was decided, or in how many seconds to try again.

        None: there is nothing to let go any more. The pod is read anew: other webhooks and
        controllers may have changed its affinity since it was created.
        """
        fresh = read_pod(self._writer, pod.metadata)
        if not isinstance(fresh, Fresh):
            return fresh.seconds if isinstance(fresh, Later) else None
        view, ref = fresh
        spec = view.spec or PodSpec()
        alone = spec.gates == (names.HOLD,)
        if not alone and not (release.forced and names.HOLD in spec.gates):
            return None  # let go already, or others hold it as well
        case = Case(view, spec, ref.namespace, self._policy, self._snapshot(), self._now())
        decision = let_go(case, release.why, forced=release.forced)
        self._expectations.expect(ref.uid)
        outcome = self._writer.patch_pod(ref, operations(view, decision))
        if isinstance(outcome, Refused):
            # Whatever the API server has against it, no pod is held for ever because of us.
            _log.error("%s/%s: let go without exclusions: %s", *ref[:2], outcome.why)
            decision = replace(
                decision, required=(), preferred=(), sentences=decision.sentences[:1]
            )
            outcome = self._writer.patch_pod(ref, operations(view, decision))
        if isinstance(outcome, Refused):
            self._refused.expect(ref.uid)
        if not isinstance(outcome, Done):
            self._expectations.met(ref.uid)
        return _result(decision, outcome)


def _result(decision: Decision, outcome: Outcome) -> Decision | float | None:
    if isinstance(outcome, Done):
        return decision
    if isinstance(outcome, Later):
        return outcome.seconds
    if isinstance(outcome, Refused):
        return REFUSED_S
    return RETRY_S if isinstance(outcome, Conflict) else None
