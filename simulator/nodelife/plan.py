"""What a node's state means: its conditions, its taints, when its pods must go. Pure.

Kubernetes: controller/nodelifecycle (monitorNodeHealth, doNoScheduleTaintingPass) and
controller/tainteviction (getMinTolerationTime).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.taints import tolerates
from simulator.clock import timestamp
from simulator.objects import dig

if TYPE_CHECKING:
    from simulator.objects import Object

SILENT_FOR_S: Final = 50.0
"""--node-monitor-grace-period of 1.32 and later."""

_PREFIX: Final = "node.kubernetes.io/"
_NOT_READY: Final = _PREFIX + "not-ready"
_UNREACHABLE: Final = _PREFIX + "unreachable"
_CORDONED: Final = _PREFIX + "unschedulable"
_OWN: Final = (_NOT_READY, _UNREACHABLE, _CORDONED)
_BY_READY: Final = {"False": _NOT_READY, "Unknown": _UNREACHABLE}


def fallen_silent(node: Object, now: float) -> Object:
    """Say of all conditions that nobody knows them any more."""
    moment = timestamp(now)
    conditions = []
    for one in dig(node, "status", "conditions") or ():
        since = one["lastTransitionTime"] if one["status"] == "Unknown" else moment
        conditions.append(
            {
                **one,
                "status": "Unknown",
                "lastTransitionTime": since,
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
        )
    return {**node, "status": {**node["status"], "conditions": conditions}}


def is_ready(obj: Object) -> bool:
    """Tell whether a node or a pod is ready."""
    conditions = dig(obj, "status", "conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def unready(pod: Object, moment: str) -> Object:
    """Say that a pod is not ready, whatever it last said itself."""
    conditions = [
        {**one, "status": "False", "lastTransitionTime": moment} if one["type"] == "Ready" else one
        for one in dig(pod, "status", "conditions") or ()
    ]
    return {**pod, "status": {**pod["status"], "conditions": conditions}}


def with_taints(node: Object, now: float) -> Object:
    """Give a node the taints of its state; those of others and the age of ours stay."""
    have = dig(node, "spec", "taints") or []
    taints = [taint for taint in have if taint["key"] not in _OWN]
    for key, effect in _wanted(node):
        known = next((t for t in have if (t["key"], t["effect"]) == (key, effect)), None)
        taints.append(known or {"key": key, "effect": effect, "timeAdded": timestamp(now)})
    spec = {part: value for part, value in node["spec"].items() if part != "taints"}
    if taints:
        spec["taints"] = taints
    return {**node, "spec": spec}


def _wanted(node: Object) -> list[tuple[str, str]]:
    found = []
    for one in dig(node, "status", "conditions") or ():
        key = _BY_READY.get(one["status"]) if one["type"] == "Ready" else None
        if key:
            found += [(key, "NoSchedule"), (key, "NoExecute")]
    if node["spec"].get("unschedulable"):
        found.append((_CORDONED, "NoSchedule"))
    return found


def stays_for(pod: Object, node: Object) -> float | None:
    """Tell for how many seconds a pod tolerates its node's NoExecute taints; None: for ever."""
    tolerations = pod["spec"].get("tolerations") or ()
    limits: list[float] = []
    for taint in dig(node, "spec", "taints") or ():
        if taint.get("effect") != "NoExecute":
            continue
        fitting = [one for one in tolerations if tolerates(one, taint)]
        if not fitting:
            return 0.0
        limits += [
            max(0.0, one["tolerationSeconds"])
            for one in fitting
            if one.get("tolerationSeconds") is not None
        ]
    return min(limits, default=None)
