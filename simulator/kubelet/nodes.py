"""The objects by which a node shows itself: Node, Lease, NodeResourceTopology. Pure.

Kubernetes: kubelet/nodestatus/setters.go, component-helpers/apimachinery/lease; for the topology
NFD's topology-updater.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.quantity import format_millis
from simulator.clock import micro_timestamp, timestamp
from simulator.resources import LEASES, NODES, TOPOLOGIES
from simulator.rules.amounts import canonical

if TYPE_CHECKING:
    from evencore.domain.kubelet.machine import Machine
    from evencore.nodefiles.files import NodeFile
    from simulator.kubelet.model import NodeModel
    from simulator.objects import Object

LEASES_IN: Final = "kube-node-lease"
LEASE_S: Final = 40
"""leaseDurationSeconds; a quarter of it passes between two renewals."""

VERSION: Final = "v1.36.2"
_FINE: Final = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
_DISK: Final = "100Gi"
_LEVEL: Final = {
    "none": "None",
    "best-effort": "BestEffort",
    "restricted": "Restricted",
    "single-numa-node": "SingleNUMANode",
}


def node(name: str, file: NodeFile, machine: Machine, address: str, now: float) -> Object:
    """Make the Node object with which a kubelet registers."""
    kubelet, config = file.kubelet, file.config()
    capacity = {
        "cpu": str(machine.cpus.bit_count()),
        "memory": canonical(file.machine.memory),
        "ephemeral-storage": _DISK,
        "pods": str(kubelet.max_pods),
    }
    left = {"cpu": format_millis(machine.cpus.bit_count() * 1000 - config.kept_millis)}
    if config.reserved_memory is not None:
        left["memory"] = str(sum(machine.memory) - sum(config.reserved_memory))
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        **file.labels,
    }
    taints = [taint.model_dump(exclude_defaults=True) for taint in file.taints]
    for taint, given in zip(taints, file.taints, strict=True):
        taint["effect"] = given.effect
    return {
        "apiVersion": NODES.api_version,
        "kind": NODES.kind,
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints} if taints else {},
        "status": {
            "capacity": capacity,
            "allocatable": {**capacity, **left},
            "conditions": conditions(now),
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "containerRuntimeVersion": "pocket://1",
                "kernelVersion": "6.12.0",
                "kubeletVersion": VERSION,
                "operatingSystem": "linux",
                "osImage": "Pocket cluster",
            },
        },
    }


def conditions(now: float) -> list[Object]:
    """Say that the node is well."""
    moment = timestamp(now)
    times = {"lastHeartbeatTime": moment, "lastTransitionTime": moment}
    fine: list[Object] = [
        {"type": type_, "status": "False", **times, "reason": reason, "message": message}
        for type_, (reason, message) in _FINE.items()
    ]
    ready = {"reason": "KubeletReady", "message": "kubelet is posting ready status"}
    return [*fine, {"type": "Ready", "status": "True", **times, **ready}]


def lease(name: str, node_uid: str, now: float) -> Object:
    """Make the lease that says when the node was last alive."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node_uid}
    return {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {"name": name, "namespace": LEASES_IN, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_S,
            "renewTime": micro_timestamp(now),
        },
    }


def topology(name: str, file: NodeFile, machine: Machine, model: NodeModel) -> Object:
    """Make the NodeResourceTopology: what each NUMA node has, may give, and has left.

    NFD's rule: without the static CPU manager nothing is allocatable or available by NUMA node.
    """
    kubelet = file.kubelet
    zones = []
    for numa, cpus in machine.numas.items():
        all_, reserved, taken = (
            (cpus & some).bit_count() for some in (cpus, model.reserved, model.held())
        )
        given = all_ - reserved if kubelet.static else 0
        zones.append(
            {
                "name": f"node-{numa}",
                "type": "Node",
                "costs": [
                    {"name": f"node-{other}", "value": machine.distances[numa][other]}
                    for other in machine.numas
                ],
                "resources": [
                    {
                        "name": "cpu",
                        "capacity": str(all_),
                        "allocatable": str(given),
                        "available": str(given - taken),
                    }
                ],
            }
        )
    policy, scope = kubelet.topology_manager_policy, kubelet.topology_manager_scope
    level = _LEVEL[policy] + ("" if policy == "none" else f"{scope.capitalize()}Level")
    return {
        "apiVersion": TOPOLOGIES.api_version,
        "kind": TOPOLOGIES.kind,
        "metadata": {"name": name},
        "topologyPolicies": [level],
        "zones": zones,
        "attributes": [
            {"name": "topologyManagerPolicy", "value": policy},
            {"name": "topologyManagerScope", "value": scope},
        ],
    }
