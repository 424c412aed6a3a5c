"""The plug-in that keeps pods off a new node until somebody has seen it ready.

Kubernetes: plugin/pkg/admission/nodetaint (TaintNodesByCondition). `nodelife` takes the taint away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.resources import NODES

if TYPE_CHECKING:
    from simulator.admission.chain import Attributes
    from simulator.objects import Object

_TAINT: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


async def taint_new_nodes(attributes: Attributes) -> Object | None:
    """Taint a node that is created."""
    target, node = attributes.target, attributes.obj
    if target.resource is not NODES or attributes.operation != "CREATE" or node is None:
        return node
    spec = node.get("spec") or {}
    taints = spec.get("taints") or []
    if any(one.get("key") == _TAINT["key"] and one.get("effect") == "NoSchedule" for one in taints):
        return node
    return {**node, "spec": {**spec, "taints": [*taints, _TAINT]}}
