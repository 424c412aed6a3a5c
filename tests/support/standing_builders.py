"""Nodes of a dump whose kubelets can be asked: with sizes, NUMA nodes and pods that run there."""

from __future__ import annotations

import json
from typing import Any, Final

from evencore.domain.names import NODE_TOPOLOGY

Object = dict[str, Any]

STATED: Final[Object] = {
    "policy": "single-numa-node",
    "scope": "container",
    "threadsPerCore": 2,
    "fullPcpusOnly": True,
}


def sized(name: str, cpus: int = 48, reserved: int = 2, /, **facts: object) -> Object:
    """Make a node; `facts`: of its annotation."""
    capacity = {"cpu": str(cpus), "memory": "192Gi", "pods": "110"}
    annotations = {NODE_TOPOLOGY: json.dumps(facts)} if facts else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": "pinned"}, "annotations": annotations},
        "status": {"capacity": capacity, "allocatable": {**capacity, "cpu": str(cpus - reserved)}},
    }


def numa(
    name: str, *zones: tuple[int, int, int], policy: str = "single-numa-node", scope: str = ""
) -> Object:
    """Make a NodeResourceTopology; `zones`: CPUs, those that can be given out, those free."""
    attributes = [{"name": "topologyManagerPolicy", "value": policy}] if policy else []
    attributes += [{"name": "topologyManagerScope", "value": scope}] if scope else []
    keys = ("capacity", "allocatable", "available")
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": name},
        "zones": [
            {
                "name": f"node-{number}",
                "type": "Node",
                "resources": [{"name": "cpu", **dict(zip(keys, map(str, zone), strict=True))}],
            }
            for number, zone in enumerate(zones)
        ],
        "attributes": attributes,
    }


def pod(
    name: str, *cpus: object, on: str = "", started: int | None = None, **spec: object
) -> Object:
    """Make a Guaranteed pod of one container for each amount.

    `on`: its node; `started`: at which minute its kubelet let it in.
    """
    containers = [
        {
            "name": f"c{number}",
            "image": "x",
            "resources": {part: {"cpu": str(cpu), "memory": "1Gi"} for part in _PARTS},
        }
        for number, cpu in enumerate(cpus)
    ]
    status: Object = {"phase": "Pending"}
    if started is not None:
        status = {"phase": "Running", "startTime": f"2026-03-01T09:{started:02}:00Z"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": name,
            "creationTimestamp": f"2026-03-01T09:{started or 59:02}:00Z",
        },
        "spec": {"containers": containers, **({"nodeName": on} if on else {}), **spec},
        "status": status,
    }


_PARTS: Final = ("requests", "limits")


def owned(made: Object, kind: str = "ReplicaSet") -> Object:
    """Give a pod a controller."""
    reference = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": "web",
        "uid": "u",
        "controller": True,
    }
    return made | {"metadata": made["metadata"] | {"ownerReferences": [reference]}}
