"""Objects of any kind, as `kubectl get -o json` prints them, become a Snapshot.

For what has no cluster at hand: `evencore explain`, `evencore webhook --snapshot`, tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evencore.domain.event_views import EventView
from evencore.domain.events import kubelet_start_in, rejection_in, told
from evencore.domain.ledger import SETTLE, Ledger
from evencore.domain.lenient import read
from evencore.domain.objects import items_of
from evencore.domain.rejection import rejection_of
from evencore.domain.snapshot import Nodes, Snapshot, maxima
from evencore.domain.topology import made_at, node_facts, room_since
from evencore.domain.views import (
    LimitRangeView,
    NamespaceView,
    NodeView,
    PodView,
    TopologyView,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import timedelta

    from msgspec import Struct

    from evencore.domain.objects import Object

_VIEWS: Mapping[str, type[Struct]] = {
    "Node": NodeView,
    "Namespace": NamespaceView,
    "LimitRange": LimitRangeView,
    "NodeResourceTopology": TopologyView,
    "Pod": PodView,
    "Event": EventView,
}


@dataclass(frozen=True, slots=True)
class Collected:
    """A snapshot and what it was made of."""

    snapshot: Snapshot
    problems: tuple[str, ...] = ()  # what an admin wrote on a node and we could not read
    # A dump stands still, so exclusions are judged as of its newest rejection, not of today.
    newest_rejection: datetime | None = None


def flatten(value: object) -> Iterator[Object]:
    """Yield the objects of a document: itself, or what a List (or PodList, …) holds."""
    return (item for item in items_of(value) if isinstance(item, dict))


def collect(documents: Iterable[object], settle: timedelta = SETTLE) -> Collected:
    """Make a snapshot of everything in the documents that a decision may look at.

    `settle`: see `Ledger`. An object that can be read only in part is used as far as it can be;
    nothing is raised.
    """
    views: dict[str, list[Any]] = {kind: [] for kind in _VIEWS}
    for document in documents:
        for item in flatten(document):
            kind = item.get("kind")
            if isinstance(kind, str) and kind in _VIEWS:
                views[kind].append(read(_VIEWS[kind], item)[0])
    topologies = {_name(view): view for view in views["NodeResourceTopology"]}
    facts = [node_facts(view, topologies.get(_name(view))) for view in views["Node"]]
    rejections = [r for pod in views["Pod"] if (r := rejection_of(pod)) is not None]
    ledger = Ledger(settle)
    for rejection in rejections:
        ledger.pod(rejection, _AS_OF_NOW)
    for said in filter(None, map(told, views["Event"])):
        if rejection_told := rejection_in(said):
            ledger.event(rejection_told, _AS_OF_NOW)
            rejections.append(rejection_told)
        elif start := kubelet_start_in(said):
            ledger.kubelet_started(*start)
    for view in views["Node"]:
        if at := made_at(view):
            ledger.node_made(_name(view), at)
    return Collected(
        Snapshot(
            Nodes(facts),
            {_name(view): view for view in views["Namespace"]},
            maxima(views["LimitRange"]),
            ledger,
            {_name(view): since for view in views["Node"] if (since := room_since(view))},
        ),
        tuple(problem for node in facts for problem in node.problems),
        max((r.at for r in rejections if r.at), default=None),
    )


# A rejection that does not say when it happened: a time to come counts as now, whenever that is.
_AS_OF_NOW = datetime.max.replace(tzinfo=UTC)


def _name(view: NodeView | NamespaceView | TopologyView) -> str:
    return (view.metadata.name if view.metadata else None) or ""
