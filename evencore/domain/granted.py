"""What a pod has, where its spec asks for something else: a resize that was refused, or put off.

Kubernetes rule (kubelet: allocation/allocation_manager.go, status/status_manager.go): a resize is
written into the spec at once. Until its kubelet grants it, the pod has what its container statuses
tell as allocated, and a condition says that it waits. On nodes with the static CPU manager kubelets
refuse every resize of a Guaranteed pod's CPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.objects import map_at, maps_at, text_at
from evencore.domain.resources import CPU, MEMORY

if TYPE_CHECKING:
    from evencore.domain.objects import Object

PENDING: Final = "PodResizePending"
"""The type of the condition of a pod whose kubelet refuses its resize or puts it off."""

_PENDING_BEFORE_1_33: Final = ("Proposed", "Deferred", "Infeasible")  # in status.resize


def granted(pod: Object) -> Object:
    """Return a pod with the requests and limits that it has; itself if they are those of its spec.

    Where a request and its limit were one amount, they still are: a resize cannot change the QoS
    class. Tolerant to anything.
    """
    status, spec = map_at(pod, "status"), map_at(pod, "spec")
    if not _waits(status):
        return pod
    allocated = {
        text_at(one, "name"): map_at(one, "allocatedResources")
        for part in ("initContainerStatuses", "containerStatuses")
        for one in maps_at(status, part)
    }
    changed = {
        part: [
            _granted(one, allocated.get(text_at(one, "name"), {})) for one in maps_at(spec, part)
        ]
        for part in ("initContainers", "containers")
        if part in spec
    }
    return pod | {"spec": spec | changed}


def _waits(status: Object) -> bool:
    pending = any(text_at(one, "type") == PENDING for one in maps_at(status, "conditions"))
    return pending or text_at(status, "resize") in _PENDING_BEFORE_1_33


def _granted(container: Object, allocated: Object) -> Object:
    resources = map_at(container, "resources")
    requests, limits = map_at(resources, "requests"), map_at(resources, "limits")
    has = {
        name: allocated[name] for name in (CPU, MEMORY) if name in allocated and name in requests
    }
    if not has:
        return container
    same = {name: value for name, value in has.items() if requests[name] == limits.get(name)}
    return container | {
        "resources": resources
        | {"requests": requests | has}
        | ({"limits": limits | same} if same else {})
    }
