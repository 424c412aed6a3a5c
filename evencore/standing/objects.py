"""The objects of a dump that nodes are made of, sorted as they are taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.learnt import NOTHING, Learnt
from evencore.domain.lenient import read
from evencore.domain.objects import items_of, map_at, text_at
from evencore.domain.quantity import QuantityError, parse_nanos
from evencore.domain.rejection import rejection_of
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.domain.objects import Object


class Zone(NamedTuple):
    """CPUs of one NUMA node, by its NodeResourceTopology; None = not told."""

    id: int
    capacity: int | None
    allocatable: int | None  # that can be given out exclusively
    available: int | None  # of these, nobody has them
    distances: dict[int, int]


class Objects:
    """Nodes, and pods that have not ended."""

    def __init__(self, documents: Iterable[object] = ()) -> None:
        self.nodes: dict[str, Object] = {}
        self.topologies: dict[str, Object] = {}
        self.bound: dict[str, list[Object]] = {}  # node → its pods
        self.waiting: list[Object] = []
        self.learnt: dict[str, Learnt] = {}
        for document in documents:
            for item in items_of(document):
                self._take(item)
        for pods in (self.waiting, *self.bound.values()):
            pods.sort(key=_order)

    def _take(self, item: Object) -> None:
        kind, name = text_at(item, "kind"), text_at(map_at(item, "metadata"), "name")
        if kind == "Node":
            self.nodes[name] = item
        elif kind == "NodeResourceTopology":
            self.topologies[name] = item
        elif kind == "Pod":
            self._pod(item)

    def _pod(self, item: Object) -> None:
        if rejection := rejection_of(read(PodView, item)[0]):
            known = self.learnt.get(rejection.node, NOTHING)
            self.learnt[rejection.node] = known.also(rejection)
        if text_at(map_at(item, "status"), "phase") in ("Failed", "Succeeded"):
            return
        node = text_at(map_at(item, "spec"), "nodeName")
        if node:
            self.bound.setdefault(node, []).append(item)
        else:
            self.waiting.append(item)


def is_admitted(pod: Object) -> bool:
    """Tell whether its kubelet has let a bound pod in: it has written when it first saw it."""
    return bool(text_at(map_at(pod, "status"), "startTime"))


def _order(pod: Object) -> tuple[str, str, str, str]:
    """Order pods as they came: as their kubelets saw them, else as they were created."""
    metadata = map_at(pod, "metadata")
    created = text_at(metadata, "creationTimestamp")
    seen = text_at(map_at(pod, "status"), "startTime") or created
    return seen, created, text_at(metadata, "namespace"), text_at(metadata, "name")


def zones_of(topology: Object | None) -> tuple[Zone, ...]:
    """Read the NUMA nodes of a NodeResourceTopology, by number; () if it tells of none."""
    listed = (topology or {}).get("zones")
    listed = listed if isinstance(listed, list) else []
    zones = [one for one in listed if text_at(one, "type") == "Node"]
    numbers = {text_at(zone, "name"): _number(zone, place) for place, zone in enumerate(zones)}
    found = [_zone(zone, numbers) for zone in zones]
    return tuple(sorted(found, key=lambda zone: zone.id))


def _number(zone: Object, place: int) -> int:
    _, _, number = text_at(zone, "name").rpartition("-")
    return int(number) if number.isdecimal() and len(number) < _LONG else place


_LONG = 5  # digits that no number of a NUMA node has


def _zone(zone: Object, numbers: dict[str, int]) -> Zone:
    resources = zone.get("resources")
    cpu: Object = {}
    for one in resources if isinstance(resources, list) else ():
        if text_at(one, "name") == "cpu":
            cpu = one
    costs = zone.get("costs")
    distances = {
        numbers[text_at(one, "name")]: one["value"]
        for one in (costs if isinstance(costs, list) else ())
        if isinstance(one, dict)
        and text_at(one, "name") in numbers
        and isinstance(one.get("value"), int)
    }
    own = numbers[text_at(zone, "name")]
    capacity, allocatable, available = (
        _cpus(cpu.get(key)) for key in ("capacity", "allocatable", "available")
    )
    return Zone(own, capacity, allocatable, available, distances)


def _cpus(value: object) -> int | None:
    try:
        return parse_nanos(value) // 10**9
    except QuantityError:
        return None
