"""The status of ReplicaSets and ReplicationControllers. Pure.

Kubernetes: pkg/controller/replicaset/replica_set_utils.go; zeros are left out, as omitempty does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import timestamp
from simulator.controllers.pods import available_in, is_ready
from simulator.errors import ApiError
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object


def status_of(
    owner: Object, active: Sequence[Object], going: int, error: Exception | None, now: float
) -> Object:
    """Compute the status from the pods that were seen before this turn's changes."""
    least = owner["spec"].get("minReadySeconds", 0)
    labels = dig(owner, "spec", "template", "metadata", "labels") or {}
    counts = {
        "fullyLabeledReplicas": sum(
            labels.items() <= (pod["metadata"].get("labels") or {}).items() for pod in active
        ),
        "readyReplicas": sum(map(is_ready, active)),
        "availableReplicas": sum(available_in(pod, least, now) == 0 for pod in active),
    }
    status: Object = {"replicas": len(active)}
    status |= {part: number for part, number in counts.items() if number}
    if owner["kind"] == "ReplicaSet":
        status["terminatingReplicas"] = going
    conditions = _conditions(owner, len(active), error, now)
    if conditions:
        status["conditions"] = conditions
    return status


def _conditions(owner: Object, active: int, error: Exception | None, now: float) -> list[Object]:
    """ReplicaFailure comes with the first error and goes when all is well."""
    have = dig(owner, "status", "conditions") or []
    others = [one for one in have if one["type"] != "ReplicaFailure"]
    if error is None:
        return others
    if len(others) < len(have):
        return list(have)
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "lastTransitionTime": timestamp(now),
        "reason": "FailedCreate" if active < owner["spec"].get("replicas", 1) else "FailedDelete",
        "message": error.message if isinstance(error, ApiError) else str(error),
    }
    return [*others, failure]
