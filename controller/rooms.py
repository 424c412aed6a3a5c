"""Something got better on a node: who was rejected there may hope again.

The controller writes since when on the node (docs/decisions/0010), so that the webhook's replicas
and the next controller know it too; only where there is somebody to whom it is news.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.handlers import OWNER
from controller.queue import Key
from evencore.domain import names
from evencore.kube.events import rfc3339
from evencore.kube.outcome import Later
from evencore.kube.writer import Ref

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.queue import Queue
    from evencore.domain.snapshot import Snapshot
    from evencore.domain.views import NodeView
    from evencore.kube.writer import Writer


class RoomReconciler:
    """Writes `evencore.io/room-since`, and wakes the owners that were rejected there."""

    def __init__(
        self,
        node: Callable[[str], NodeView | None],
        snapshot: Callable[[], Snapshot],
        writer: Writer,
        queue: Queue,
        now: Callable[[], datetime],
    ) -> None:
        self._node, self._snapshot = node, snapshot
        self._writer, self._queue, self._now = writer, queue, now

    def reconcile(self, name: str) -> float | None:
        """Take in that something got better on a node; returns in how many s to try again."""
        now, snapshot = self._now(), self._snapshot()
        known, news, concerned = snapshot.rooms.get(name), False, []
        for owner in snapshot.evidence.owners():
            for found in snapshot.evidence.of(owner, now).nodes:
                if found.node == name:
                    concerned.append(owner)
                    news = news or known is None or found.newest > known
        node = self._node(name)
        if news and node is not None and node.metadata is not None:
            ref = Ref("", name, node.metadata.uid or "")
            outcome = self._writer.patch_node(ref, annotations={names.ROOM_SINCE: rfc3339(now)})
            if isinstance(outcome, Later):
                return outcome.seconds
            # It comes back as a change of the node, and wakes the owners then.
            return None
        for owner in concerned:
            self._queue.add(Key(OWNER, owner))
        return None
