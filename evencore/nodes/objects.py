"""What the report is made of, taken in object by object: a cluster has more pods than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evencore.domain.event_views import EventView
from evencore.domain.events import rejection_in, told
from evencore.domain.exclusive import NONE, InUse, exclusive
from evencore.domain.granted import granted
from evencore.domain.learnt import NOTHING, Learnt
from evencore.domain.lenient import read
from evencore.domain.objects import items_of, text_at
from evencore.domain.quantity import QuantityError, parse_millis
from evencore.domain.rejection import rejection_of
from evencore.domain.resources import CPU
from evencore.domain.views import NodeView, PodView, TopologyView

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.rejection import Rejection


class NodeStatus(Struct, frozen=True, gc=False):
    """status of a node."""

    capacity: dict[str, Any] | None = None
    allocatable: dict[str, Any] | None = None


class SizedNode(Struct, frozen=True, gc=False):
    """A node of which only the status matters."""

    status: NodeStatus | None = None


class Objects:
    """The objects of a cluster that tell of its nodes; others, and odd ones, are passed over."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeView] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        """Node → CPU capacity and what of it is allocatable, in thousandths."""
        self.topologies: dict[str, TopologyView] = {}
        self.in_use: dict[str, InUse] = {}
        self.learnt: dict[str, Learnt] = {}
        self.rejections: dict[str, Rejection] = {}
        """By uid of the pod."""

    def take(self, document: object) -> None:
        """Take in a document: an object, or a list of them."""
        for item in items_of(document):
            kind = text_at(item, "kind")
            if kind == "Node":
                self._node(item)
            elif kind == "NodeResourceTopology":
                topology = read(TopologyView, item)[0]
                self.topologies[_name(topology)] = topology
            elif kind == "Pod":
                self._pod(read(PodView, granted(item))[0])
            elif kind == "Event":
                said = told(read(EventView, item)[0])
                if said and (rejection := rejection_in(said)):
                    self.rejections.setdefault(rejection.uid, rejection)

    @property
    def newest(self) -> datetime | None:
        """When the newest rejection happened; a dump is judged as of then."""
        return max((r.at for r in self.rejections.values() if r.at), default=None)

    def _node(self, item: object) -> None:
        node = read(NodeView, item)[0]
        self.nodes[_name(node)] = node
        status = read(SizedNode, item)[0].status
        try:
            self.sizes[_name(node)] = (
                parse_millis(((status.capacity if status else None) or {})[CPU]),
                parse_millis(((status.allocatable if status else None) or {})[CPU]),
            )
        except (KeyError, QuantityError):
            return

    def _pod(self, pod: PodView) -> None:
        if rejection := rejection_of(pod):
            self.rejections[rejection.uid] = rejection
            known = self.learnt.get(rejection.node, NOTHING)
            self.learnt[rejection.node] = known.also(rejection)
        elif (cpus := exclusive(pod)) and cpus.node:
            self.in_use[cpus.node] = self.in_use.get(cpus.node, NONE).also(cpus)


def _name(view: NodeView | TopologyView) -> str:
    return (view.metadata.name if view.metadata else None) or ""
