"""What the report is made of, sorted by kind: from a cluster, from dumps, or from watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from controller.state import is_steered
from controller.views import LivePod
from evencore.domain.collect import flatten
from evencore.domain.event_views import EventView
from evencore.domain.lenient import read
from evencore.domain.objects import map_at, text_at
from evencore.domain.views import NamespaceView, NodeView, PodView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Objects(NamedTuple):
    """The objects of a cluster that tell of rejections."""

    nodes: Sequence[NodeView] = ()
    namespaces: Sequence[NamespaceView] = ()
    failed: Sequence[PodView] = ()
    live: Sequence[LivePod] = ()  # those that were held, let go or kept off nodes
    events: Sequence[EventView] = ()


class Sorter:
    """Takes objects in as they come and keeps of them what is needed, which is little."""

    def __init__(self) -> None:
        self._nodes: list[NodeView] = []
        self._namespaces: list[NamespaceView] = []
        self._failed: list[PodView] = []
        self._live: list[LivePod] = []
        self._events: list[EventView] = []
        self.objects = Objects(
            self._nodes, self._namespaces, self._failed, self._live, self._events
        )

    def take(self, document: object) -> None:
        """Take in what `kubectl get … -o json` printed; other kinds do not count."""
        for item in flatten(document):
            kind = text_at(item, "kind")
            if kind == "Node":
                self._nodes.append(read(NodeView, item)[0])
            elif kind == "Namespace":
                self._namespaces.append(read(NamespaceView, item)[0])
            elif kind == "Event":
                self._events.append(read(EventView, item)[0])
            elif kind == "Pod":
                self._pod(item)

    def _pod(self, item: object) -> None:
        phase = text_at(map_at(item, "status"), "phase")
        if phase == "Failed":
            self._failed.append(read(PodView, item)[0])
        elif phase != "Succeeded":
            try:
                pod = msgspec.convert(item, LivePod)
            except msgspec.ValidationError:  # no API server sends such
                return
            if is_steered(pod):
                self._live.append(pod)


def objects_of(documents: Iterable[object]) -> Objects:
    """Sort documents."""
    sorter = Sorter()
    for document in documents:
        sorter.take(document)
    return sorter.objects
