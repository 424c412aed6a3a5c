"""What there is to list: tables of objects that are made when they are asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from .crowded import NAMESPACES, Crowd

VERSION = 1_000_000
"""Of every list; events come after it."""

_STARTED = 50
"""Kubelets that started within the last hour."""

PODS, FAILED, NODES, NODE_METADATA = "pods", "failed pods", "nodes", "node metadata"


@dataclass(frozen=True)
class Table:
    """`make(number, version)` returns one object."""

    count: int
    make: Callable[[int, int], bytes]


def tables(crowd: Crowd) -> dict[str, Table]:
    """Return the tables of a cluster by name."""
    namespaces = min(NAMESPACES, crowd.pods)
    return {
        PODS: Table(crowd.pods, crowd.pod),
        FAILED: Table(crowd.rejected, crowd.failed_pod),
        NODES: Table(crowd.nodes, crowd.node),
        NODE_METADATA: Table(crowd.nodes, crowd.node_metadata),
        "namespaces": Table(namespaces, crowd.namespace),
        "limitranges": Table(namespaces, crowd.limit_range),
        "topology rejections": Table(crowd.rejected, crowd.rejection_event),
        "kubelet starts": Table(min(_STARTED, crowd.nodes), crowd.kubelet_start),
        "other events": Table(0, crowd.kubelet_start),
    }


def table_of(path: str, query: dict[str, str], accept: str) -> str:
    """Return the name of the table that a list or watch is about; empty: there is none."""
    selector = query.get("fieldSelector", "")
    match path:
        case "/api/v1/pods":
            return FAILED if selector == "status.phase=Failed" else PODS
        case "/api/v1/nodes":
            return NODE_METADATA if "PartialObjectMetadata" in accept else NODES
        case "/api/v1/namespaces":
            return "namespaces"
        case "/api/v1/limitranges":
            return "limitranges"
        case "/api/v1/events" if "TopologyAffinityError" in selector:
            return "topology rejections"
        case "/api/v1/events" if "Starting" in selector:
            return "kubelet starts"
        case "/api/v1/events":
            return "other events"
    return ""


def page(table: Table, start: int, limit: int) -> bytes:
    """Return one page of a list."""
    end = min(table.count, start + limit) if limit else table.count
    items = b",".join([table.make(number, VERSION) for number in range(start, end)])
    more = b',"continue":"%d","remainingItemCount":%d' % (end, table.count - end)
    metadata = b'{"resourceVersion":"%d"%s}' % (VERSION, more if end < table.count else b"")
    return b'{"kind":"List","apiVersion":"v1","metadata":%s,"items":[%s]}' % (metadata, items)
