"""What the kubelets of nodes would say to a pod now, next to the pods that run there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import jsonpatch

from evencore.standing.asked import read_pod
from evencore.standing.building import arriving, machines_by_name, stand
from evencore.standing.knowledge import ASSUMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evencore.domain.objects import Object
    from evencore.domain.patching import Operation
    from evencore.nodefiles.files import NodesFile
    from evencore.standing.node import Standing
    from evencore.standing.objects import Objects
    from evencore.standing.verdicts import Verdict


class Now(NamedTuple):
    """What one kubelet would say."""

    node: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Kubelets:
    """Nodes that can be asked; none if nobody tells what runs there."""

    standings: Mapping[str, Standing] = field(default_factory=dict)

    def ask(self, pod: Object, patch: Sequence[Operation], nodes: Iterable[str]) -> tuple[Now, ...]:
        """Ask the kubelets of some nodes about a pod as it is after a patch."""
        if not self.standings:
            return ()
        asked = read_pod(jsonpatch.apply_patch(pod, list(patch)), "explained")
        if asked is None:
            return ()
        return tuple(Now(name, self.standings[name].ask(asked)) for name in nodes)

    def notes(self) -> Iterator[str]:
        """Say what was assumed."""
        of_nodes: dict[str, list[str]] = {}
        for name, standing in self.standings.items():
            for note in standing.notes:
                of_nodes.setdefault(note, []).append(name)
        for note, names in of_nodes.items():
            first, *others = names
            more = f" and {len(others)} more" if others else ""
            yield f"{first}{more}: {note}"
        if any(not one.known.stated for one in self.standings.values()):
            yield ASSUMED


def kubelets(objects: Objects, machines: NodesFile | None = None) -> Kubelets:
    """Put the pods of a dump on its nodes; those that are bound come before any other.

    A dump without a pod that runs tells nothing of what is free, unless a node file says that
    somebody wants to know all the same.
    """
    if not objects.bound and machines is None:
        return Kubelets()
    files = machines_by_name(machines)
    standings = {}
    for name in objects.nodes:
        standings[name] = stand(objects, name, files.get(name))
        for asked in arriving(objects, name):
            standings[name].admit(asked)
    return Kubelets(standings)
