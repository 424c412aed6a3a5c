"""The cluster that the webhook under measurement believes in: a generated file of nodes.

What `kubectl get nodes,namespaces -o json` would print, with the labels evencore's controller
writes. Every node can take the container of the reviews, so that the answer is the same
operations as the yardsticks give and no node affinity on top.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_CONTAINER_CPUS = ("22", "22", "22", "14", "6")
"""Largest aligned request per node, repeated over the nodes: most are big, some are smaller."""


REJECTIONS = 2_000
"""Failed pods, of as many owners as a bad hour of a large cluster has; none is that of the reviews,
which a node affinity more would make incomparable."""

_OWNERS = 50


def write_snapshot(path: Path, nodes: int) -> None:
    """Write a List of `nodes` nodes, the namespace of the reviews and rejected pods to `path`."""
    items = [
        _namespace("capture"),
        *(_node(number) for number in range(nodes)),
        *(_rejected(number, nodes) for number in range(REJECTIONS if nodes else 0)),
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def _namespace(name: str) -> dict[str, Any]:
    """Return a namespace that takes part."""
    labels = {"kubernetes.io/metadata.name": name, "evencore.io/admission": "enabled"}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": labels},
        "status": {"phase": "Active"},
    }


def _rejected(number: int, nodes: int) -> dict[str, Any]:
    """Return a pod that its kubelet rejected a moment ago."""
    owner = f"looping-{number % _OWNERS}"
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{owner}-{number:05d}",
            "namespace": "capture",
            "uid": f"rejected-{number}",
            "creationTimestamp": now,
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": owner,
                    "uid": owner,
                    "controller": True,
                }
            ],
        },
        "spec": {"nodeName": f"node-{number % nodes:04d}"},
        "status": {
            "phase": "Failed",
            "reason": "TopologyAffinityError",
            "message": "Pod Resources cannot be allocated with Topology locality",
            "startTime": now,
        },
    }


def _node(number: int) -> dict[str, Any]:
    """Return one ready node of 48 or fewer CPUs, two threads per core."""
    name = f"node-{number:04d}"
    most = _CONTAINER_CPUS[number % len(_CONTAINER_CPUS)]
    cpus = str(2 * int(most))  # two NUMA nodes, each with room for the largest container
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "evencore.io/node": name,
        "evencore.io/threads-per-core": "2",
        "evencore.io/max-container-cpus": most,
        "evencore.io/max-pod-cpus": cpus,
    }
    amounts = {"cpu": cpus, "memory": "131072Mi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
