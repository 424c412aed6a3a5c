"""Everything a decision may look at, read once, as `kubectl get … -o json` would print it.

For commands of people. Not for processes that stay: they watch (`snapshots`).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evencore.domain.event_views import EventView
from evencore.kube.errors import NotFound, Unreadable
from evencore.kube.resource import Resource
from evencore.kube.source import FAILED_PODS, LIMIT_RANGES, NAMESPACES, NODES
from evencore.kube.witnesses import WITNESSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.kube.client import Client

TOPOLOGIES = Resource("/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies")

_READ: Final = (
    ("Node", NODES),
    ("Namespace", NAMESPACES),
    ("LimitRange", LIMIT_RANGES),
    ("NodeResourceTopology", TOPOLOGIES),
    ("Pod", FAILED_PODS),
    *(("Event", kind.resource) for kind in WITNESSES.values() if kind.view is EventView),
)
_PAGE_SIZE = 500  # objects; nobody's latency waits for this process

# Numbers with a fraction keep their text, as everywhere in evencore.
_decode = msgspec.json.Decoder(dict[str, Any], float_hook=str).decode


def dump(client: Client) -> Iterator[dict[str, Any]]:
    """Yield nodes, namespaces, LimitRanges, NodeResourceTopologies, failed pods and Events.

    Of Events only those that tell of rejections and of kubelets that started.

    A cluster without NodeResourceTopologies is no error. Raises KubeError.
    """
    for kind, resource in _READ:
        try:
            yield from listed(client, resource, kind)
        except NotFound:
            if resource is not TOPOLOGIES:
                raise


def listed(client: Client, resource: Resource, kind: str) -> Iterator[dict[str, Any]]:
    """Yield all objects of a resource, which are of this kind. Raises KubeError."""
    token = ""
    while True:
        query = [*resource.query(), ("limit", str(_PAGE_SIZE))]
        if token:
            query.append(("continue", token))
        with closing(client.get(resource.path, query, accept=resource.list_accept)) as reply:
            try:
                page = _decode(reply.read())
                items, token = page["items"] or (), page["metadata"].get("continue") or ""
            except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
                raise Unreadable(
                    f"{reply.call} was not answered with a list: {Unreadable.advice}"
                ) from error
        yield from ({**item, "kind": kind} for item in items if isinstance(item, dict))
        if not token:
            return
