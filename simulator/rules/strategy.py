"""What a write may touch, by kind and subresource, and the last checks before it is stored.

For: keeping status and spec apart, completing a new object, telling its faults.
Not for: defaults (they come before admission) and metadata (the store keeps it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import invalid
from simulator.objects import copy, dig
from simulator.resources import JOBS, NAMESPACES, NODES, PODS, SERVICES, STATUS
from simulator.rules import (
    ephemeral,
    faults,
    metadata,
    new_pods,
    pod_updates,
    requirements,
    roles,
    services,
    workloads,
)

if TYPE_CHECKING:
    from simulator.errors import Cause
    from simulator.objects import Object
    from simulator.resources import Resource

_RBAC: Final = "rbac.authorization.k8s.io"


def complete_new(resource: Resource, obj: Object) -> Object:
    """Give a new object, which has its name and uid, what belongs to its kind."""
    if resource is PODS:
        return new_pods.with_status(obj)
    if resource is NAMESPACES:
        return {**obj, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    if resource is SERVICES:
        return {**services.with_address(obj), "status": {"loadBalancer": {}}}
    if resource is JOBS:
        return {**workloads.with_job_labels(obj), "status": {}}
    if STATUS in resource.subresources and resource is not NODES:
        return {**obj, "status": {}}
    return obj


def check_new(resource: Resource, obj: Object) -> None:
    """Refuse a new object that has faults (422)."""
    found = [*metadata.check(obj, path_names=resource.group == _RBAC), *metadata.check_new(obj)]
    if resource is PODS:
        found += new_pods.check(obj)
    found += services.check(resource, obj)
    found += workloads.check(resource, obj)
    found += roles.check(resource, obj)
    _refuse(resource, obj, found)


def combined(resource: Resource, subresource: str, old: Object, new: Object) -> Object:
    """Return `old` with what a write through this subresource may change."""
    if subresource == STATUS:
        return _through_status(resource, old, new)
    if subresource == "finalize":
        spec = {**(old.get("spec") or {}), "finalizers": dig(new, "spec", "finalizers") or []}
        return {**old, "spec": spec}
    if subresource == "resize":
        return _resized(old, new)
    if subresource == ephemeral.SUBRESOURCE:
        return ephemeral.combined(old, new)
    kept = {} if STATUS not in resource.subresources else {"status": old.get("status", {})}
    if resource is SERVICES:
        kept["spec"] = services.with_kept_address(old, new)
    if resource is NAMESPACES:
        kept["spec"] = old.get("spec") or {}
    return {**new, **kept}


def check_update(resource: Resource, subresource: str, old: Object, new: Object) -> None:
    """Refuse an update that changes what may not change (422)."""
    found = [
        *metadata.check(new, path_names=resource.group == _RBAC),
        *metadata.check_update(old, new),
    ]
    if resource is PODS and not subresource:
        found += pod_updates.check(old, new)
    elif resource is PODS and subresource == "resize":
        found += _resize_faults(old, new)
    elif resource is PODS and subresource == ephemeral.SUBRESOURCE:
        found += ephemeral.check_update(old, new)
    if not subresource:
        found += services.check(resource, new)
        found += workloads.check(resource, new)
        found += workloads.check_update(resource, old, new)
        found += roles.check(resource, new)
        found += roles.check_update(resource, old, new)
    _refuse(resource, new, found)


def _refuse(resource: Resource, obj: Object, found: list[Cause]) -> None:
    if found:
        raise invalid(resource, obj["metadata"]["name"], found)


def _through_status(resource: Resource, old: Object, new: Object) -> Object:
    """Kubernetes rule: labels and annotations may come along, but labels not for workloads."""
    kept = dict(new["metadata"])
    if resource.group in ("apps", "batch"):
        kept["labels"] = old["metadata"].get("labels")
        if kept["labels"] is None:
            del kept["labels"]
    updated = {**old, "metadata": kept, "status": new.get("status") or {}}
    if resource is PODS and "qosClass" in (old.get("status") or {}):
        # Kubelets that patch a status need not repeat what never changes.
        updated["status"] = {**updated["status"], "qosClass": old["status"]["qosClass"]}
    return updated


def _resized(old: Object, new: Object) -> Object:
    updated = copy(old)
    for part in ("containers", "initContainers"):
        theirs = {one.get("name"): one for one in dig(new, "spec", part) or ()}
        for container in dig(updated, "spec", part) or ():
            if container["name"] in theirs:
                container["resources"] = theirs[container["name"]].get("resources") or {}
    return updated


def _resize_faults(old: Object, new: Object) -> list[Cause]:
    found = [
        fault
        for part in ("containers", "initContainers")
        for number, one in enumerate(dig(new, "spec", part) or ())
        for fault in requirements.check(
            one.get("resources") or {}, f"spec.{part}[{number}].resources"
        )
    ]
    if not found and new_pods.qos(old) != new_pods.qos(new):
        found.append(
            faults.invalid(
                "spec", new_pods.qos(new), "Pod QOS Class may not change as a result of resizing"
            )
        )
    return found
