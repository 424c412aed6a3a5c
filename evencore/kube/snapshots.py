"""The live Snapshot: what the reflectors mirror, in the shape that decisions look at.

Readers get the newest picture without waiting. Nodes are put together in a thread of their own when
one of them changed in what we use; rejections are known as soon as they are on the wire.
"""

from __future__ import annotations

import logging
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from evencore.domain.ledger import Ledger
from evencore.domain.snapshot import Nodes, Snapshot, maxima
from evencore.domain.topology import made_at, node_facts, room_since
from evencore.domain.views import LimitRangeView, NamespaceView, NodeView
from evencore.keeping import kept_namespace, kept_node
from evencore.kube.source import LIMIT_RANGES, NAMESPACES, NODES, ClusterSource, Kind
from evencore.kube.surroundings import Surroundings
from evencore.kube.witnesses import WITNESSES, Witnesses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from evencore.domain.policy import Policy
    from evencore.domain.topology import NodeFacts
    from evencore.kube.client import Client
    from evencore.kube.source import Listener

_log = logging.getLogger(__name__)

_KINDS: Final = {
    "nodes": Kind(NODES, NodeView, keep=kept_node),
    "namespaces": Kind(NAMESPACES, NamespaceView, keep=kept_namespace),
    "limitranges": Kind(LIMIT_RANGES, LimitRangeView),
}


class LiveSnapshot:
    """Mirrors a cluster as far as admission decisions look at it. Call it for the Snapshot."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        more: Mapping[str, Kind] = MappingProxyType({}),
        listener: Listener | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """`more`: what else to watch, or differently; `listener` is told of every change."""
        around = self._around = surroundings or Surroundings()
        self._source = ClusterSource(
            client,
            {**_KINDS, **WITNESSES, **more},
            self._changed,
            clock=around.clock,
            random=around.random,
            spawn=around.spawn,
        )
        self._listener = listener
        self._rooms: dict[str, datetime] = {}
        self._snapshot = Snapshot(
            evidence=Ledger(policy.rejections.after_kubelet_start, threading.Lock()),
            rooms=self._rooms,
        )
        self._witnesses = Witnesses(self._snapshot.evidence, around.now)
        self._facts: dict[str, tuple[NodeView, NodeFacts]] = {}
        self._work = threading.Event()
        self._stopping = False

    def __call__(self) -> Snapshot:
        """Return the newest picture. Never waits; empty before the first lists came."""
        return self._snapshot

    def start(self) -> None:
        """Start watching and return at once."""
        self._around.spawn("snapshot", self._build)
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

    def objects(self, name: str) -> Mapping[str, Any]:
        """Give the objects of a kind, by namespace/name or name; see `source`."""
        return self._source.objects(name)

    def object(self, name: str, key: str) -> Any:  # noqa: ANN401  see source.ClusterSource
        """Give one object of a kind; None if there is none."""
        return self._source.object(name, key)

    def _changed(self, name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  see source.Listener
        if name in WITNESSES:
            self._witnesses.changed(name, before, after)
        if name == "nodes":
            self._room(before, after)
        if name in _KINDS:
            self._work.set()
        if self._listener is not None:
            self._listener(name, key, before, after)

    def _room(self, before: NodeView | None, after: NodeView | None) -> None:
        """Note since when there is more room on a node; only the thread of the nodes writes."""
        node = after or before
        name = (node.metadata.name if node and node.metadata else None) or ""
        if after and (at := made_at(after)):
            self._snapshot.evidence.node_made(name, at)
        since = room_since(after) if after else None
        if since:
            self._rooms[name] = since
        else:
            self._rooms.pop(name, None)

    def _build(self) -> None:
        while True:
            self._work.wait()
            if self._stopping:
                return
            self.refresh()

    def refresh(self) -> None:
        """Put the picture together anew if there is need; `start` has a thread that does so."""
        if not self._work.is_set():
            return
        self._work.clear()
        try:
            self._snapshot = replace(
                self._snapshot,
                nodes=self._nodes(),
                namespaces=self._source.objects("namespaces"),
                maxima=maxima(self._source.objects("limitranges").values()),
            )
        except Exception:  # noqa: BLE001  if the thread ended, the picture would age unseen
            _log.exception("the picture of the cluster stays as it was: this is a bug")

    def _nodes(self) -> Nodes:
        """Put the nodes together; the ones from before if none changed in what we use of it."""
        before, self._facts = (
            self._facts,
            {name: self._read(name, view) for name, view in self._source.objects("nodes").items()},
        )
        same = self._facts.keys() == before.keys() and all(
            facts is before[name][1] for name, (_, facts) in self._facts.items()
        )
        return self._snapshot.nodes if same else Nodes(f for _, f in self._facts.values())

    def _read(self, name: str, view: NodeView) -> tuple[NodeView, NodeFacts]:
        """Read a node, anew only if it changed; what its admin wrote wrongly is logged once."""
        known = self._facts.get(name)
        if known is not None and known[0] is view:
            return known
        facts = node_facts(view)
        if known is not None and known[1] == facts:
            return view, known[1]
        for problem in facts.problems:
            if known is None or problem not in known[1].problems:
                _log.warning("%s; ignored", problem)
        return view, facts
