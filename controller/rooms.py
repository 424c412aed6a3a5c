"""Something got better on a node: who was rejected there may hope again.

The controller writes since when on the node (docs/decisions/0010), so that the webhook's replicas
and the next controller know it too; only where there is somebody to whom it is news.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from controller.handlers import OWNER
from controller.queue import Key
from evencore.domain import names
from evencore.kube.events import rfc3339
from evencore.kube.outcome import RETRY_S, Conflict, Done, Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.queue import Queue
    from controller.state import State
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import NodeView
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

PAUSE_S: Final = 5.0
"""Between two writes on the same node: where pods come and go, room appears all the time."""


class RoomReconciler:
    """Writes `evencore.io/room-since`, and wakes the owners whom it concerns."""

    def __init__(  # noqa: PLR0913, PLR0917  what it works with
        self,
        node: Callable[[str], NodeView | None],
        state: State,
        snapshot: Callable[[], Snapshot],
        writer: Writer,
        queue: Queue,
        now: Callable[[], datetime],
    ) -> None:
        self._node, self._state, self._snapshot = node, state, snapshot
        self._writer, self._queue, self._now = writer, queue, now

    def reconcile(self, name: str) -> float | None:
        """Take in that something got better on a node; returns in how many s to try again."""
        now, snapshot = self._now(), self._snapshot()
        newcomer = self._state.newcomer
        if newcomer is not None and newcomer.node == name:  # nobody was rejected there
            for owner in self._state.steered.groups():
                self._queue.add(Key(OWNER, owner))
        rejected = snapshot.evidence.rejected_on(name)
        node, known = self._node(name), snapshot.rooms.get(name)
        if not rejected or node is None or node.metadata is None:
            return None
        # What a kubelet whose clock is ahead stamps with a time to come has happened by now.
        if known is not None and known >= min(now, max(rejected.values())):
            self.hope(name)
            return None
        if known is not None and (now - known).total_seconds() < PAUSE_S:
            return PAUSE_S
        ref = Ref("", name, node.metadata.uid or "")
        outcome = self._writer.patch_node(ref, annotations={names.ROOM_SINCE: rfc3339(now)})
        if isinstance(outcome, Later):
            return outcome.seconds
        if isinstance(outcome, Conflict):  # nodes are written by many; or another has its name
            return RETRY_S
        if not isinstance(outcome, Done):
            _log.warning("node %s: that there is more room cannot be told: %s", name, outcome.why)
        # It comes back as a change of the node, and wakes the owners then.
        return None

    def hope(self, name: str) -> None:
        """Take in that more room is written on a node: wake those who were rejected there."""
        for owner in self._snapshot().evidence.rejected_on(name):
            self._queue.add(Key(OWNER, owner))
