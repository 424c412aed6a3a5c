"""The cluster that the webhook under measurement believes in: a generated file of nodes.

What `kubectl get nodes,namespaces -o json` would print, with the labels evencore's controller
writes. Every node can take the container of the reviews, so that the answer is the same
operations as the yardsticks give and no node affinity on top.
"""

import json
from pathlib import Path
from typing import Any

_CONTAINER_CPUS = ("22", "22", "22", "14", "6")
"""Largest aligned request per node, repeated over the nodes: most are big, some are smaller."""


def write_snapshot(path: Path, nodes: int) -> None:
    """Write a List of `nodes` nodes and the namespace of the reviews to `path`."""
    items = [_namespace("capture"), *(_node(number) for number in range(nodes))]
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
