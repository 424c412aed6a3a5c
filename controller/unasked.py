"""Pods that were created as if we were not there: nobody else sees that the webhook is not called.

With failurePolicy Ignore a webhook that cannot be reached, through a firewall for one, is silence.
So new pods that carry no mark of ours are decided on once more, at most one a second: who would
have been changed was not asked about, or the answer did not arrive. Three of them, and none that
was asked about since the first, are told.

Not for: pods that need nothing. They carry no mark whether we were asked or not; only the
webhook's own metrics tell (`evencore_admission_requests_total`), or `evencore doctor`.
"""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from controller import texts
from controller.queue import Key
from controller.reading import Fresh, read_pod
from controller.recent import Recent
from controller.state import owner_of
from controller.views import LiveMetadata
from evencore import metrics
from evencore.domain import names
from evencore.domain.decision import decide
from evencore.domain.scope import takes_part
from evencore.domain.text import count
from evencore.kube.events import About

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.queue import Queue
    from controller.reporter import Reporter
    from controller.views import LivePod
    from evencore.domain.decision import Decision
    from evencore.domain.policy import Policy
    from evencore.domain.snapshot import Snapshot
    from evencore.kube.writer import Writer

ASKED: Final = "asked"  # about: namespace/name of a new pod without a mark of ours

ENOUGH: Final = 3
"""One alone may have been created just before its namespace took part, or a node became known."""

WITHIN: Final = timedelta(minutes=15)
PAUSE: Final = timedelta(seconds=1)
"""Between two pods that are read for this."""

TOLD_AGAIN: Final = timedelta(minutes=1)


class Unasked:
    """A `source.Listener` for new pods, and the reconciler of what it queues.

    `queue` must have a single worker. `leads`: who does not lead looks at nothing.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        queue: Queue,
        leads: Callable[[], bool],
        policy: Policy,
        snapshot: Callable[[], Snapshot],
        writer: Writer,
        reporter: Reporter,
        now: Callable[[], datetime],
    ) -> None:
        self._queue, self._leads = queue, leads
        self._policy, self._snapshot = policy, snapshot
        self._writer, self._reporter, self._now = writer, reporter, now
        self._uids: Recent[str] = Recent()
        self._missed: deque[datetime] = deque(maxlen=1000)
        self._last = self._told = now() - TOLD_AGAIN

    def seen(self, name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        """Take in one change."""
        if name != "pods" or before is not None or after is None or not self._leads():
            return
        pod: LivePod = after
        if pod.decision:
            self._missed.clear()
        elif self._now() - self._last >= PAUSE and self._part(key.partition("/")[0]):
            # Kept here: one that its kubelet refuses is gone from the view in milliseconds.
            self._uids.put(key, pod.metadata.uid)
            self._queue.add(Key(ASKED, key))

    def reconcile(self, key: str) -> None:
        """Decide on a pod once more, as if it were created now."""
        uid, now = self._uids.get(key), self._now()
        if uid is None or now - self._last < PAUSE:
            return
        self._last = now
        namespace, _, name = key.partition("/")
        fresh = read_pod(self._writer, LiveMetadata(name, namespace, uid))
        if not isinstance(fresh, Fresh):
            return
        decision = decide(fresh.pod, namespace, self._policy, self._snapshot(), now)
        if decision.changes or decision.denial:
            metrics.PODS_MISSED.inc()
            controller = fresh.pod.controller
            pod = About("v1", "Pod", namespace, name, uid)
            owner = texts.about(owner_of(controller, namespace)) if controller else pod
            self._miss({pod, owner}, decision, now)

    def _miss(self, whom: set[About], decision: Decision, now: datetime) -> None:
        self._missed.append(now)
        # A copy: the thread that watches may empty it meanwhile.
        recent = [at for at in tuple(self._missed) if now - at <= WITHIN]
        if len(recent) < ENOUGH or now - self._told < TOLD_AGAIN:
            return
        self._told = now
        text = missed(decision, len(recent), now - recent[0])
        for one in whom:
            self._reporter.tell(one, names.WEBHOOK_NOT_CALLED, text, warning=True)

    def _part(self, namespace: str) -> bool:
        return takes_part(namespace, self._snapshot().namespaces.get(namespace), self._policy)


def missed(decision: Decision, number: int, span: timedelta) -> str:
    """Say what was seen, and where to look."""
    would = decision.denial or "; ".join(change.sentence for change in decision.changes)
    minutes = max(1, round(span / timedelta(minutes=1)))
    return (
        f"created as if evencore were not there ({would}): {count(number, 'such pod')} within "
        f"{minutes} min, and no admission traffic although pods are being created: is there a "
        "firewall between the control plane and the webhook's port, or is its configuration gone? "
        "evencore doctor tells"
    )
