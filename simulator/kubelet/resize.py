"""In-place resize of a pod: whether its kubelet grants it, and how it says so. Pure.

Kubernetes: kubelet/allocation (handlers.go, canResizePod), kubelet/events/pod_resize.go and
status_manager.go's SetPodResizePendingCondition. A CPU manager that pins whole CPUs cannot change
a set that is in use, so the CPUs of a Guaranteed pod stay as they are beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.kubelet.predicates import room_for
from simulator.objects import dig, encode
from simulator.requests import of_pod
from simulator.requests import read as amounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.objects import Object
    from simulator.requests import Amounts

INFEASIBLE, DEFERRED = "Infeasible", "Deferred"
_PENDING: Final = "PodResizePending"
_PINNED: Final = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"'
_PARTS: Final = ("initContainers", "containers")

Resources = dict[str, "Object"]
"""Container name → its resources."""


class Refused(NamedTuple):
    """Why a resize has to wait, or will never be."""

    reason: str
    message: str


def resources_of(pod: Object) -> Resources:
    """Tell what the containers of a pod are to have."""
    return {
        one["name"]: one.get("resources") or {}
        for part in _PARTS
        for one in pod["spec"].get(part) or ()
    }


def refusal(
    pod: Object, allocated: Resources, node: Object, others: Sequence[Amounts], *, static: bool
) -> Refused | None:
    """Tell why a pod cannot have what it asks for instead of `allocated`; None: it can."""
    guaranteed = dig(pod, "status", "qosClass") == "Guaranteed"
    if static and guaranteed and _cpus(resources_of(pod)) != _cpus(allocated):
        return Refused(INFEASIBLE, _PINNED)
    have, asked = amounts(dig(node, "status", "allocatable")), of_pod(pod["spec"])
    for name in ("cpu", "memory"):
        if asked.get(name, 0) > have.get(name, 0):
            numbers = f"requested: {asked[name]}, capacity: {have.get(name, 0)}"
            text = f"Node didn't have enough capacity: {name}, {numbers}"
            return Refused(INFEASIBLE, text)
    full = room_for(pod, node, others)
    return Refused(DEFERRED, full.message) if full is not None else None


def _cpus(resources: Resources) -> dict[str, list[int | None]]:
    return {
        name: [amounts(one.get(part)).get("cpu") for part in ("requests", "limits")]
        for name, one in resources.items()
    }


def refused(pod: Object, why: Refused, now: str) -> Object:
    """Give the status that says why; everything else goes on as it was."""
    status, generation = pod["status"], pod["metadata"].get("generation")
    known = next((one for one in _conditions(pod) if one["type"] == _PENDING), {})
    since = known["lastTransitionTime"] if known.get("reason") == why.reason else now
    said = {
        "type": _PENDING,
        "observedGeneration": generation,
        "status": "True",
        "lastProbeTime": now,
        "lastTransitionTime": since,
        "reason": why.reason,
        "message": why.message,
    }
    return {
        **status,
        "observedGeneration": generation,
        "conditions": [said, *_others(pod)],
    }


def granted(pod: Object) -> Object:
    """Give the status of a pod whose containers have what it asks for."""
    status, wanted = pod["status"], resources_of(pod)
    shown = {
        part: [_shown(one, wanted.get(one["name"])) for one in status[part]]
        for part in ("initContainerStatuses", "containerStatuses")
        if part in status
    }
    generation = pod["metadata"].get("generation")
    return {**status, "observedGeneration": generation, "conditions": _others(pod), **shown}


def message(title: str, pod: Object, error: str = "") -> str:
    """Write the message of a resize's Event."""
    told: dict[str, Any] = {}
    for part in _PARTS:
        containers = pod["spec"].get(part)
        if containers:
            told[part] = [
                {"name": one["name"], "resources": _in_order(one.get("resources") or {})}
                for one in containers
            ]
    told["generation"] = pod["metadata"].get("generation", 0)
    if error:
        told["error"] = error
    return f"Pod resize {title}: {encode(told).decode()}"


def _in_order(resources: Object) -> Object:
    """Sort amounts, as Go writes them."""
    return {
        part: dict(sorted(resources[part].items()))
        for part in ("limits", "requests")
        if resources.get(part)
    }


def _conditions(pod: Object) -> list[Object]:
    return dig(pod, "status", "conditions") or []


def _others(pod: Object) -> list[Object]:
    return [one for one in _conditions(pod) if one["type"] != _PENDING]


def _shown(status: Object, resources: Object | None) -> Object:
    if not resources or "running" not in status["state"]:
        return status
    return {
        **status,
        "resources": resources,
        "allocatedResources": resources.get("requests") or {},
    }
