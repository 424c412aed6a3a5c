"""What the scheduler tells of a pod that fits nowhere, in Event and condition: FitError."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.objects import Object
    from simulator.scheduler.filters import Refusal

NO_NODES: Final = "no nodes available to schedule pods"


def unschedulable(nodes: int, refusals: Mapping[str, Refusal]) -> str:
    """Count the reasons over all nodes, in the order of their text, as Kubernetes does.

    Preemption is looked for and never found here: there is none in this cluster.
    """
    if not nodes:
        return NO_NODES
    why = Counter(reason for one in refusals.values() for reason in one.reasons)
    final = sum(one.final for one in refusals.values())
    helpless = Counter(
        {
            "Preemption is not helpful for scheduling": final,
            "No preemption victims found for incoming pod": len(refusals) - final,
        }
    )
    head = f"0/{nodes} nodes are available: "
    return (
        f"{head}{_histogram(why)} no new claims to deallocate, "
        f"preemption: {head}{_histogram(helpless)}"
    )


def _histogram(counted: Counter[str]) -> str:
    return ", ".join(sorted(f"{n} {text}" for text, n in counted.items() if n)) + "."


def with_condition(pod: Object, message: str, now: str) -> Object:
    """Say PodScheduled=False; the moment of the transition stays if it was False before."""
    pod = copy(pod)
    conditions = dig(pod, "status", "conditions") or []
    before: Object = next((one for one in conditions if one["type"] == "PodScheduled"), {})
    since = before.get("lastTransitionTime") if before.get("status") == "False" else None
    condition = {
        "type": "PodScheduled",
        "observedGeneration": pod["metadata"].get("generation"),
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": since or now,
        "reason": "Unschedulable",
        "message": message,
    }
    others = [one for one in conditions if one["type"] != "PodScheduled"]
    pod["status"] = {**pod["status"], "conditions": [*others, condition]}
    return pod
