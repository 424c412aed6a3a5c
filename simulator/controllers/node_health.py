"""What the control plane says of a node, and the taints that follow. Pure.

Kubernetes: pkg/controller/nodelifecycle. A Ready that is False or Unknown gives a taint that keeps
new pods away and one that drives pods off once their toleration is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.clock import timestamp
from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.objects import Object

GRACE_S: Final = 50.0
"""kube-controller-manager --node-monitor-grace-period."""

_BY_READY: Final = {
    "False": "node.kubernetes.io/not-ready",
    "Unknown": "node.kubernetes.io/unreachable",
}
_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_OURS: Final = (*_BY_READY.values(), _UNSCHEDULABLE)
_WATCHED: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def ready(node: Object) -> str | None:
    """Give the status of the condition Ready; None if the node has none."""
    for condition in dig(node, "status", "conditions") or ():
        if condition["type"] == "Ready":
            return str(condition["status"])
    return None


def tainted(node: Object, now: float) -> Object:
    """Give the node with the taints that its condition asks for; others stay."""
    have = dig(node, "spec", "taints") or []
    wanted: list[tuple[str, str]] = []
    key = _BY_READY.get(ready(node) or "")
    if key:
        wanted = [(key, "NoSchedule"), (key, "NoExecute")]
    if dig(node, "spec", "unschedulable"):
        wanted.append((_UNSCHEDULABLE, "NoSchedule"))
    kept = [one for one in have if one["key"] not in _OURS or (one["key"], one["effect"]) in wanted]
    there = {(one["key"], one["effect"]) for one in kept}
    added = [
        {"key": key, "effect": effect, "timeAdded": timestamp(now)}
        for key, effect in wanted
        if (key, effect) not in there
    ]
    spec = {**(node.get("spec") or {}), "taints": [*kept, *added]}
    if not spec["taints"]:
        del spec["taints"]
    return {**node, "spec": spec}


def unknown(node: Object, now: float) -> Object:
    """Give the status of a node whose kubelet has not been heard of for too long."""
    status = node.get("status") or {}
    conditions = [
        one if one["type"] not in _WATCHED or one["status"] == "Unknown" else _lost(one, now)
        for one in status.get("conditions") or ()
    ]
    return {**status, "conditions": conditions}


def _lost(condition: Object, now: float) -> Object:
    return {
        **condition,
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "lastTransitionTime": timestamp(now),
    }


def not_ready(pod: Object, now: float) -> Object:
    """Give the status of a pod whose node is not ready: it is not ready, either."""
    status = pod.get("status") or {}
    conditions = [
        {**one, "status": "False", "lastTransitionTime": timestamp(now)}
        if one["type"] == "Ready" and one["status"] == "True"
        else one
        for one in status.get("conditions") or ()
    ]
    return {**status, "conditions": conditions} if conditions else status
