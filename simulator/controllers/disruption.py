"""How a pod of a node that is gone ends: nobody else is left to say that it has failed.

Kubernetes: PodGC writes phase Failed and the condition DisruptionTarget before it deletes.
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


async def fail(client: Client, pod: Object, now: float) -> None:
    """Write why; a pod that has ended already keeps its end."""
    if pod_rules.is_over(pod):
        return
    condition = {
        "type": "DisruptionTarget",
        "observedGeneration": pod["metadata"].get("generation"),
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": timestamp(now),
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
    }
    have = dig(pod, "status", "conditions") or ()
    others = [one for one in have if one["type"] != condition["type"]]
    end = {"phase": "Failed", "conditions": [*others, condition]}
    status = {**(pod.get("status") or {}), **end}
    # A pod that changed or went meanwhile is none to mark; whoever calls deletes it next.
    with suppress(ApiError):
        await client.update_status(PODS, pod, status)
