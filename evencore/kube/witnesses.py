"""The witnesses of rejections: failed pods, and Events as a second opinion.

For: what must be watched to have evidence, and bringing each change into the Ledger.
Not for: what evidence means.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.event_views import EventView
from evencore.domain.events import kubelet_start_in, rejection_in, told
from evencore.domain.rejection import rejection_of
from evencore.domain.views import FailedPodView
from evencore.keeping import kept_event, kept_pod
from evencore.kube.crowds import Crowd
from evencore.kube.resource import Resource
from evencore.kube.source import FAILED_PODS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from evencore.domain.ledger import Ledger

_log = logging.getLogger(__name__)

_FAILED_PODS: Final = "failed pods"
_KUBELET_STARTS: Final = "kubelet starts"


MOST_EVENTS: Final = 1000
"""Of each reason, kept of a namespace: a verdict looks at the newest few, and nobody who may write
some in one namespace is to fill our memory with them."""
MOST_STARTS: Final = 20_000
"""Of kubelets and kube-proxies, kept: these are all in one namespace."""


def _made(event: EventView) -> str:
    return (event.metadata.creation_timestamp if event.metadata else None) or ""


def _events(selector: str, most: int = MOST_EVENTS) -> Kind:
    resource = Resource("/api/v1/events", field_selector=selector)
    return Kind(resource, EventView, keep=kept_event, crowd=Crowd(most, _made))


# A StatefulSet's or DaemonSet's controller deletes a rejected pod at once; its Event stays. The
# server selects: a cluster has far more Events than these.
WITNESSES: Final = {
    _FAILED_PODS: Kind(FAILED_PODS, FailedPodView, keep=kept_pod),
    "topology rejections": _events("reason=TopologyAffinityError"),
    "alignment rejections": _events("reason=SMTAlignmentError"),
    "other rejections": _events("reason=UnexpectedAdmissionError"),
    _KUBELET_STARTS: _events("reason=Starting,involvedObject.kind=Node", MOST_STARTS),
}
"""Name → what to watch."""


class Witnesses:
    """Brings into a Ledger what is watched under the names of WITNESSES."""

    def __init__(self, ledger: Ledger, now: Callable[[], datetime]) -> None:
        self._ledger, self._now = ledger, now

    def changed(self, name: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        """Take in one change; a `source.Listener` but for the key."""
        if name == _FAILED_PODS:
            self._pod(before, after)
        else:
            self._event(before, after)

    def _pod(self, before: FailedPodView | None, after: FailedPodView | None) -> None:
        rejection = rejection_of(after) if after else None
        gone = rejection_of(before) if before else None
        # A list may find another pod under the same name: a StatefulSet's.
        if gone and not (rejection and rejection.uid == gone.uid):
            self._ledger.pod_gone(gone.namespace, gone.uid)
        if rejection:
            self._ledger.pod(rejection, self._now())

    def _event(self, before: EventView | None, after: EventView | None) -> None:
        said = told(after) if after else None
        if after and not said:
            _log.debug("an Event that does not say what it is about is passed over")
        if said and (rejection := rejection_in(said)):
            self._ledger.event(rejection, self._now())
        elif said and (start := kubelet_start_in(said)):
            self._ledger.kubelet_started(*start)
        elif before and (gone := told(before)):
            self._ledger.event_gone(gone.namespace, gone.uid)
