"""What tells of nodes and of the exclusive CPUs in use there, read once, for commands of people.

What may not be read is told, not raised, as long as the rest makes sense without it.
Not for: the meaning; that is `evencore.nodes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evencore.domain.event_views import EventView
from evencore.kube.dump import TOPOLOGIES, listed
from evencore.kube.errors import Forbidden, NotFound
from evencore.kube.resource import Resource
from evencore.kube.witnesses import WITNESSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.kube.client import Client

NODES: Final = Resource("/api/v1/nodes")
PODS: Final = Resource("/api/v1/pods", field_selector="status.phase!=Succeeded")


class _Part(NamedTuple):
    kind: str
    resource: Resource
    without: str = ""  # what is not known without it; empty: nothing makes sense then


_PARTS: Final = (
    _Part("Node", NODES),
    _Part("NodeResourceTopology", TOPOLOGIES, "what NodeResourceTopologies tell is not known"),
    _Part("Pod", PODS, "neither rejected pods nor CPUs in use are known"),
    *(
        _Part("Event", kind.resource, "rejections whose pods are gone are not counted")
        for name, kind in WITNESSES.items()
        if kind.view is EventView and name != "kubelet starts"
    ),
)


def read_nodes(client: Client, take: Callable[[dict[str, Any]], None]) -> tuple[str, ...]:
    """Hand every object to `take` as it comes; returns what is not known for want of permission.

    Page by page, for a cluster may have more pods than fit in memory. Raises KubeError.
    """
    notes: dict[str, str] = {}
    for part in _PARTS:
        try:
            for item in listed(client, part.resource, part.kind):
                take(item)
        except NotFound:
            if part.resource is not TOPOLOGIES:  # not every cluster has that kind
                raise
        except Forbidden as error:
            if not part.without:
                raise
            notes.setdefault(part.without, f"{part.without}: {error}")
    return tuple(notes.values())
