"""How a pod is told that the control plane, and not itself, is why it goes.

Kubernetes: the condition DisruptionTarget, written by PodGC and taint eviction before they delete.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from simulator.clock import timestamp
from simulator.controllers import pods as pod_rules
from simulator.errors import ApiError
from simulator.objects import dig
from simulator.resources import PODS

if TYPE_CHECKING:
    from simulator.controllers.client import Client
    from simulator.objects import Object


async def disrupt(
    client: Client, pod: Object, why: tuple[str, str], now: float, *, fail: bool = False
) -> None:
    """Write the condition; `fail`: nobody else is left to end the pod, so it is Failed."""
    if pod_rules.is_over(pod):
        return
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": timestamp(now),
        "reason": why[0],
        "message": why[1],
    }
    have = dig(pod, "status", "conditions") or ()
    others = [one for one in have if one["type"] != condition["type"]]
    status = {**(pod.get("status") or {}), "conditions": [*others, condition]}
    if fail:
        status["phase"] = "Failed"
    # A pod that changed or went meanwhile is none to mark; whoever calls deletes it next.
    with suppress(ApiError):
        await client.update_status(PODS, pod, status)
