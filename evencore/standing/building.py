"""From the objects of a dump to nodes that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.kubelet.predicates import Allocatable
from evencore.domain.kubelet.refusals import StartError
from evencore.domain.learnt import NOTHING
from evencore.domain.objects import map_at
from evencore.domain.quantity import QuantityError
from evencore.domain.text import count, one_of
from evencore.standing.asked import PODS, amounts_of, read_pod
from evencore.standing.filling import fill
from evencore.standing.knowledge import Known, known_by_file, known_of
from evencore.standing.node import Branch, Standing
from evencore.standing.objects import is_admitted, zones_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evencore.domain.objects import Object
    from evencore.nodefiles.files import NodeFile, NodesFile
    from evencore.standing.asked import Asked
    from evencore.standing.filling import Filled
    from evencore.standing.objects import Objects


def machines_by_name(file: NodesFile | None) -> Mapping[str, NodeFile]:
    """Give the nodes of a node file by their names."""
    return {name: one for one in (file.nodes if file else ()) for name in one.names()}


def stand(objects: Objects, name: str, file: NodeFile | None = None) -> Standing:
    """Build one node of a dump with the pods that its kubelet has let in. Never raises."""
    node, topology = objects.nodes[name], objects.topologies.get(name)
    if file is not None:
        known = known_by_file(file)
    else:
        known = known_of(node, topology, objects.learnt.get(name, NOTHING))
    running = [pod for pod in objects.bound.get(name, ()) if is_admitted(pod)]
    pods = [asked for pod in running if (asked := read_pod(pod))]
    allocatable = _allocatable(node)
    if allocatable is None:
        return Standing(name, Known(unknown="it does not tell what is allocatable"), ())
    try:
        zones = zones_of(topology)
        free = {zone.id: zone.available for zone in zones if zone.available is not None}
        filled = [
            (way, fill(way, allocatable, pods, free if len(free) == len(zones) > 0 else None))
            for way in known.ways
        ]
    except StartError as error:
        return Standing(name, Known(unknown=f"its kubelet would not start so: {error}"), ())
    possible = [(way.chosen, one) for way, one in filled if one is not None]
    if known.ways and not possible:
        why = "a pod runs there that full-pcpus-only would have refused, and it is said to be on"
        return Standing(name, Known(unknown=why, policy=known.policy), ())
    branches = tuple(Branch(chosen, one.book) for chosen, one in possible)
    found = [one for _, one in possible]
    doubt = next((one.doubt for one in found if one.doubt), "")
    notes = _notes(known, found, pods, len(running) - len(pods), measured=bool(free))
    return Standing(name, known, branches, doubt, notes)


def arriving(objects: Objects, name: str) -> list[Asked]:
    """List the pods that are bound to a node and that its kubelet has not let in yet, in order."""
    pods = (read_pod(pod) for pod in objects.bound.get(name, ()) if not is_admitted(pod))
    return [asked for asked in pods if asked]


def _allocatable(node: Object) -> Allocatable | None:
    try:
        have = amounts_of(map_at(map_at(node, "status"), "allocatable"))
    except QuantityError:
        return None
    if "cpu" not in have:
        return None
    return Allocatable(have.get(PODS, 110), have["cpu"], have.get("memory"))


def _notes(
    known: Known, filled: Sequence[Filled], pods: Sequence[Asked], unread: int, *, measured: bool
) -> tuple[str, ...]:
    notes = []
    if len(filled) > 1:
        notes.append(f"nobody tells {one_of(known.open, last='and')}: looked at in every way")
    stale = next((one.stale for one in filled if one.stale), "")
    if stale:
        notes.append(stale)
    if any(one.halves for one in filled):
        notes.append(
            "which CPUs its pods have is taken from its NodeResourceTopology, core by core: where "
            "half cores are free is not known"
        )
    exclusive = sum(1 for asked in pods if asked.cpu_of)
    if exclusive and filled and (stale or not measured):
        notes.append(
            f"{count(exclusive, 'pod')} with exclusive CPUs came in the order of their start, and "
            "none has ended since"
        )
    if unread:
        notes.append(f"{count(unread, 'pod')} there cannot be read")
    return tuple(notes)
