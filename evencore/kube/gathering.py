"""What tells of rejections in a cluster, for commands of people: read once, or followed.

What may not be read is told, not raised, as long as the rest makes sense without it.
Not for: the meaning; that is `evencore.rejections`.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from evencore.domain import names
from evencore.domain.event_views import EventView
from evencore.domain.views import NamespaceView, NodeView, PodView
from evencore.kube.dump import listed
from evencore.kube.errors import Forbidden
from evencore.kube.resource import Resource
from evencore.kube.source import FAILED_PODS, NAMESPACES, NODES, ClusterSource, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from msgspec import Struct

    from evencore.kube.client import Client

STEERED_PODS: Final = Resource(
    "/api/v1/pods",
    label_selector=names.STEERING,
    field_selector="status.phase!=Succeeded,status.phase!=Failed",
)


def _events(reason: str, more: str = "") -> Resource:
    return Resource("/api/v1/events", field_selector=f"reason={reason}{more}")


class Part(NamedTuple):
    """One thing to read."""

    kind: str
    resource: Resource
    needed: bool = False  # without it there is nothing to tell
    without: str = ""  # what is not known without it

    def within(self, namespace: str | None) -> Part:
        """Return the same in one namespace."""
        path = self.resource.path
        if namespace is None or self.kind not in ("Pod", "Event") or self.without == _STARTS:
            return self
        narrowed = path.replace("/v1/", f"/v1/namespaces/{namespace}/", 1)
        return self._replace(resource=replace(self.resource, path=narrowed))


_STARTS: Final = "rejections right after the start of a kubelet cannot be told from others"
_WITNESSES: Final = "rejections whose pods are gone (StatefulSets) are not seen"

PARTS: Final[Mapping[str, Part]] = {
    "failed pods": Part("Pod", FAILED_PODS, needed=True),
    "steered pods": Part("Pod", STEERED_PODS, needed=True),
    "nodes": Part("Node", NODES, without="where pods could go is not known"),
    "namespaces": Part("Namespace", NAMESPACES, without="which of them take part is not known"),
    "topology rejections": Part("Event", _events("TopologyAffinityError"), without=_WITNESSES),
    "alignment rejections": Part("Event", _events("SMTAlignmentError"), without=_WITNESSES),
    "other rejections": Part("Event", _events("UnexpectedAdmissionError"), without=_WITNESSES),
    "kubelet starts": Part(
        "Event", _events("Starting", ",involvedObject.kind=Node"), without=_STARTS
    ),
    "clean-ups": Part(
        "Event", _events(names.REJECTED_PODS_DELETED), without="what was cleaned up is not known"
    ),
}


class Gathered(NamedTuple):
    """Which parts were read, and what is not known without the others."""

    names: tuple[str, ...]
    notes: tuple[str, ...]


def gather(
    client: Client, take: Callable[[dict[str, Any]], None], namespace: str | None = None
) -> Gathered:
    """Hand every object to `take` as it comes: a looping owner has thousands of failed pods.

    Raises KubeError if what is needed cannot be read.
    """
    notes: dict[str, str] = {}
    read = []
    for name, part in PARTS.items():
        one = part.within(namespace)
        try:
            for item in listed(client, one.resource, one.kind):
                take(item)
            read.append(name)
        except Forbidden as error:
            if one.needed:
                raise
            notes.setdefault(one.without, f"{one.without}: {error}")
    return Gathered(tuple(read), tuple(notes.values()))


class Following:
    """Watches the same, within a `with` block."""

    def __init__(
        self,
        client: Client,
        live_pod: type[Struct],
        namespace: str | None = None,
        parts: Iterable[str] = PARTS,
    ) -> None:
        """`parts`: names of those that may be read; `live_pod`: into what steered pods go."""
        views: dict[str, type[Struct]] = {
            "Node": NodeView,
            "Namespace": NamespaceView,
            "Event": EventView,
            "Pod": PodView,
        }
        self._names = tuple(parts)
        self._changed = threading.Event()
        self._source = ClusterSource(
            client,
            {
                name: Kind(
                    PARTS[name].within(namespace).resource,
                    live_pod if name == "steered pods" else views[PARTS[name].kind],
                )
                for name in self._names
            },
            lambda *_: self._changed.set(),
        )

    def __enter__(self) -> Self:
        self._source.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._source.stop()

    def ready(self, timeout_s: float) -> bool:
        """Wait until everything was read once; False if that takes longer."""
        return not self._source.wait_synced(timeout_s)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the next change; False if there was none."""
        changed = self._changed.wait(timeout_s)
        self._changed.clear()
        return changed

    def objects(self, kind: str) -> list[Any]:
        """Return the objects of a kind; `Live` are the steered pods."""
        return [
            found
            for name in self._names
            if ("Live" if name == "steered pods" else PARTS[name].kind) == kind
            for found in self._source.objects(name).values()
        ]
