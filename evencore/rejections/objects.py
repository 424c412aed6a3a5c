"""What the report is made of, sorted by kind: from a cluster, from dumps, or from watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from controller.views import LivePod
from evencore.domain.collect import flatten
from evencore.domain.objects import map_at, text_at
from evencore.domain.views import EventView, NamespaceView, NodeView, PodView, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Objects(NamedTuple):
    """The objects of a cluster that tell of rejections."""

    nodes: Sequence[NodeView] = ()
    namespaces: Sequence[NamespaceView] = ()
    failed: Sequence[PodView] = ()
    live: Sequence[LivePod] = ()  # those that were held, let go or kept off nodes, at least
    events: Sequence[EventView] = ()


def objects_of(documents: Iterable[object]) -> Objects:
    """Sort what `kubectl get … -o json` printed; other kinds and odd objects are passed over."""
    nodes: list[NodeView] = []
    namespaces: list[NamespaceView] = []
    failed: list[PodView] = []
    live: list[LivePod] = []
    events: list[EventView] = []
    for document in documents:
        for item in flatten(document):
            kind = text_at(item, "kind")
            if kind == "Node":
                nodes.append(read(NodeView, item)[0])
            elif kind == "Namespace":
                namespaces.append(read(NamespaceView, item)[0])
            elif kind == "Event":
                events.append(read(EventView, item)[0])
            elif kind == "Pod":
                phase = text_at(map_at(item, "status"), "phase")
                if phase == "Failed":
                    failed.append(read(PodView, item)[0])
                elif phase != "Succeeded":
                    live += _live(item)
    return Objects(nodes, namespaces, failed, live, events)


def _live(item: object) -> list[LivePod]:
    try:
        return [msgspec.convert(item, LivePod)]
    except msgspec.ValidationError:  # no API server sends such
        return []
