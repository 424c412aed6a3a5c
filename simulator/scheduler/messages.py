"""What the scheduler tells when a pod fits nowhere (FitError, and preemption's answer to it)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

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
