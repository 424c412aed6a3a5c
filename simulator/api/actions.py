"""The subresources that are actions on an object: binding, eviction, scale.

Kubernetes rules: a pod is bound once, and never while it has gates; an eviction is a delete that
a budget could refuse (there are no budgets here); scale is one number of every workload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.api.writes import TRIES
from simulator.clock import timestamp
from simulator.errors import ApiError, bad_request, conflict, invalid
from simulator.objects import copy, dig
from simulator.printing.cells import NONE, map_text, selector_text
from simulator.resources import PODS, REPLICATION_CONTROLLERS, Resource
from simulator.rules import faults
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.routing import Target
    from simulator.api.writes import Call, Writes
    from simulator.objects import Object
    from simulator.store.store import Store
    from simulator.store.table import Record

_SCALES: Final = Resource("autoscaling", "v1", "scales", "Scale")

SUCCESS: Final[Object] = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "code": 201,
}


async def bind(store: Store, writes: Writes, target: Target, binding: Object, call: Call) -> Object:
    """Put a pod on a node. Raises a 409 if it is bound, gated or being deleted."""
    node = dig(binding, "target", "name")
    if not isinstance(node, str) or not node:
        raise bad_request("a Binding needs target.name: the node")
    await writes.admit_connect(target, binding, call)
    old = store.get(PODS, target.namespace, target.name).object
    why = _why_not(old, dig(binding, "metadata", "uid"))
    if why:
        text = f'Operation cannot be fulfilled on pods/binding "{target.name}": {why}'
        details = {"name": target.name, "kind": "pods/binding"}
        raise ApiError(409, "Conflict", text, details)
    pod = copy(old)
    pod["spec"]["nodeName"] = node
    for part in ("labels", "annotations"):
        extra = dig(binding, "metadata", part)
        if extra:
            pod["metadata"][part] = {**(pod["metadata"].get(part) or {}), **extra}
    others = [
        one for one in dig(pod, "status", "conditions") or () if one["type"] != "PodScheduled"
    ]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": timestamp(store.clock.now()),
    }
    pod["status"] = {**(pod.get("status") or {}), "conditions": [*others, scheduled]}
    store.update(PODS, target.namespace, target.name, pod, counts=False, dry_run=call.dry_run)
    return SUCCESS


def _why_not(pod: Object, uid: str | None) -> str:
    name = pod["metadata"]["name"]
    if uid and uid != pod["metadata"]["uid"]:
        return (
            f"Precondition failed: UID in precondition: {uid}, "
            f"UID in object meta: {pod['metadata']['uid']}"
        )
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if pod["spec"].get("nodeName"):
        return f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    if pod["spec"].get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


async def evict(writes: Writes, target: Target, eviction: Object, call: Call) -> Object:
    """Delete a pod as its DeleteOptions say."""
    said = (eviction.get("metadata") or {}).get("name")
    if said not in (None, "", target.name):
        raise bad_request("name in URL does not match name in Eviction object")
    await writes.admit_connect(target, eviction, call)
    options = Options.read(eviction.get("deleteOptions") or {})
    # Kubernetes rule: no DELETE is shown to admission (registry/core/pod/storage/eviction.go).
    writes.remove(target._replace(subresource=""), options, call)
    return SUCCESS


def scale_of(record: Record, target: Target) -> Object:
    """Show a workload as its Scale."""
    metadata, spec, status = (
        record.object.get(part) or {} for part in ("metadata", "spec", "status")
    )
    selector = spec.get("selector")
    plain = target.resource is REPLICATION_CONTROLLERS
    text = map_text(selector) if plain else selector_text(selector)
    shown = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {part: metadata[part] for part in shown if part in metadata},
        "spec": {"replicas": spec.get("replicas", 0)},
        "status": {
            "replicas": status.get("replicas", 0),
            **({"selector": text} if text != NONE else {}),
        },
    }


async def rescale(
    store: Store, writes: Writes, target: Target, change: Callable[[Object], Object], call: Call
) -> Object:
    """Set the number of replicas to what `change` makes of the Scale. Raises 409 and 422.

    Kubernetes rule: admission is shown the Scale, never the workload.
    """
    resource = target.resource
    for _ in range(TRIES):
        record = store.get(resource, target.namespace, target.name)
        old = scale_of(record, target)
        new = change(copy(old))
        version = dig(new, "metadata", "resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise conflict(resource, target.name)
        new = await writes.admit_view(target, new, old, call)
        replicas: Any = dig(new, "spec", "replicas") or 0
        if not isinstance(replicas, int) or replicas < 0:
            why = "must be greater than or equal to 0"
            cause = faults.invalid("spec.replicas", replicas, why)
            raise invalid(_SCALES, target.name, [cause])
        if store.table(resource).get(record.key) is record:
            spec = {**record.object["spec"], "replicas": replicas}
            changed = {**record.object, "spec": spec}
            return scale_of(
                store.update(resource, *record.key, changed, dry_run=call.dry_run), target
            )
    raise conflict(resource, target.name)
