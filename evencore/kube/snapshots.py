"""The live Snapshot: what the reflectors mirror, in the shape that decisions look at.

Readers get the newest picture without waiting. Nodes are put together in a thread of their own when
one of them changed in what we use; rejections are known as soon as they are on the wire.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.rejection import Rejection, rejection_of
from evencore.domain.snapshot import Nodes, Snapshot, maxima
from evencore.domain.topology import node_facts
from evencore.domain.views import LimitRangeView, NamespaceView, NodeView, PodView
from evencore.kube.source import (
    FAILED_PODS,
    LIMIT_RANGES,
    NAMESPACES,
    NODES,
    ClusterSource,
    Kind,
)

if TYPE_CHECKING:
    from evencore.domain.topology import NodeFacts
    from evencore.kube.client import Client

_KINDS: Final = {
    "nodes": Kind(NODES, NodeView),
    "namespaces": Kind(NAMESPACES, NamespaceView),
    "limitranges": Kind(LIMIT_RANGES, LimitRangeView),
    "failed pods": Kind(FAILED_PODS, PodView),
}


class LiveSnapshot:
    """Mirrors a cluster as far as admission decisions look at it. Call it for the Snapshot."""

    def __init__(self, client: Client) -> None:
        self._source = ClusterSource(client, _KINDS, self._changed)
        self._rejections: dict[str, tuple[Rejection, ...]] = {}
        self._snapshot = Snapshot(rejections=self._rejections)
        self._facts: dict[str, tuple[NodeView, NodeFacts]] = {}
        self._work = threading.Event()
        self._stopping = False
        self._builder = threading.Thread(target=self._build, name="snapshot", daemon=True)

    def __call__(self) -> Snapshot:
        """Return the newest picture. Never waits; empty before the first lists came."""
        return self._snapshot

    def start(self) -> None:
        """Start watching and return at once."""
        self._builder.start()
        self._source.start()

    def stop(self) -> None:
        """End all watches."""
        self._stopping = True
        self._work.set()
        self._source.stop()

    def missing(self) -> str | None:
        """Say what has not been read yet; None = the picture is complete."""
        waiting = self._source.synced()
        return f"waiting for the first list of {', '.join(waiting)}" if waiting else None

    def _changed(self, name: str, _key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        if name == "failed pods":
            self._forget(before)
            self._learn(after)
        else:
            self._work.set()

    # Only the thread that watches failed pods writes here; a reader gets the tuple of one owner
    # whole, old or new.

    def _learn(self, pod: PodView | None) -> None:
        rejection = rejection_of(pod) if pod is not None else None
        if rejection is not None:
            have = self._rejections.get(rejection.owner_uid, ())
            self._rejections[rejection.owner_uid] = (*have, rejection)

    def _forget(self, pod: PodView | None) -> None:
        rejection = rejection_of(pod) if pod is not None else None
        if rejection is None:
            return
        have = self._rejections.get(rejection.owner_uid, ())
        left = tuple(r for r in have if r.uid != rejection.uid)
        if left:
            self._rejections[rejection.owner_uid] = left
        else:
            self._rejections.pop(rejection.owner_uid, None)

    def _build(self) -> None:
        while True:
            self._work.wait()
            self._work.clear()
            if self._stopping:
                return
            self._snapshot = replace(
                self._snapshot,
                nodes=self._nodes(),
                namespaces=self._source.objects("namespaces"),
                maxima=maxima(self._source.objects("limitranges").values()),
            )

    def _nodes(self) -> Nodes:
        """Put the nodes together, anew only if one changed, each only if it changed itself."""
        views = self._source.objects("nodes")
        same = len(views) == len(self._facts) and all(
            self._facts[name][0] is view for name, view in views.items() if name in self._facts
        )
        if same and views.keys() == self._facts.keys():
            return self._snapshot.nodes
        facts = {}
        for name, view in views.items():
            known = self._facts.get(name)
            facts[name] = known if known and known[0] is view else (view, node_facts(view))
        self._facts = facts
        return Nodes(fact for _, fact in facts.values())
