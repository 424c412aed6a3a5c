"""Pods as controllers see them: made from a template, active, ready, available. Pure.

Kubernetes rules: pkg/controller/controller_utils.go and pkg/api/v1/pod/util.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.clock import parse_timestamp
from simulator.objects import copy, dig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

_OVER: Final = ("Failed", "Succeeded")
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def from_template(template: Object, owner: Object) -> Object:
    """Make the pod that a template describes, owned by `owner`."""
    given = copy(template.get("metadata") or {})
    parts = ("labels", "annotations", "finalizers")
    metadata: Object = {part: given[part] for part in parts if given.get(part)}
    metadata["generateName"] = owner["metadata"]["name"] + "-"
    metadata["ownerReferences"] = [controller_reference(owner)]
    return {"metadata": metadata, "spec": copy(template["spec"])}


def controller_reference(owner: Object) -> Object:
    """Make the reference by which a dependent names its controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def phase(pod: Object) -> str:
    """Give the phase; empty before there is one."""
    return dig(pod, "status", "phase") or ""


def is_over(pod: Object) -> bool:
    """Tell whether a pod has ended, well or not."""
    return phase(pod) in _OVER


def is_going_away(pod: Object) -> bool:
    """Tell whether a pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def is_active(pod: Object) -> bool:
    """Tell whether a pod counts as a replica."""
    return not is_over(pod) and not is_going_away(pod)


def ready_since(pod: Object) -> float | None:
    """Tell since when a pod is ready; None if it is not."""
    for condition in dig(pod, "status", "conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "True":
            since = condition.get("lastTransitionTime")
            return parse_timestamp(since) if since else 0.0
    return None


def is_ready(pod: Object) -> bool:
    """Tell whether a pod is ready."""
    return ready_since(pod) is not None


def available_in(pod: Object, min_ready_s: float, now: float) -> float | None:
    """Tell in how many seconds a pod is available: 0 if it is, None if it is not even ready."""
    since = ready_since(pod)
    if since is None:
        return None
    return max(0.0, since + min_ready_s - now) if min_ready_s else 0.0


def next_available(pods: Iterable[Object], min_ready_s: float, now: float) -> float | None:
    """Tell in how many seconds a ready pod becomes available; None: none will by itself."""
    waits = (available_in(pod, min_ready_s, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


def is_running_and_ready(pod: Object) -> bool:
    """Tell whether a pod runs and is ready."""
    return phase(pod) == "Running" and is_ready(pod)


def first_to_go(pod: Object) -> tuple[object, ...]:
    """Sort key: the pods that are missed least come first.

    Unassigned, then pending, then not ready ones; of equals the cheaper, then the younger.
    """
    cost = dig(pod, "metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost")
    since, created = ready_since(pod), parse_timestamp(pod["metadata"]["creationTimestamp"])
    return (
        bool(dig(pod, "spec", "nodeName")),
        _PHASES.get(phase(pod), 0),
        since is not None,
        _number(cost),
        -(since or 0.0),
        -created,
    )


def _number(cost: object) -> int:
    try:
        return int(str(cost or 0))
    except ValueError:  # the API server refuses those; a pod may be older than the rule
        return 0
