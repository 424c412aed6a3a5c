"""How the things that steps do are done: each as an admin with kubectl does it.

For: coroutines for the thread of the cluster; each returns what became of it in a word, or
nothing, and raises the ApiError with which the cluster refuses it.
Not for: which of them a step asks for; that is `deeds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.api import actions
from simulator.api.routing import Target
from simulator.clock import timestamp
from simulator.objects import controller_of, copy
from simulator.patches.apply import apply
from simulator.patches.plain import merge_patch
from simulator.resources import NODES, PODS
from simulator.rules import shapes
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from simulator.api.writes import Call
    from simulator.cluster import Cluster
    from simulator.faults import Fault
    from simulator.objects import Object

MANAGER: Final = "kubectl"
"""The field manager."""

_KUBERNETES: Final = "node.kubernetes.io/"
"""Of taints that say what state a node is in."""


async def create_or_change(target: Target, obj: Object, cluster: Cluster, call: Call) -> str:
    """Server-side apply; what only has a generateName is made anew each time."""
    store, writes = cluster.server.store, cluster.server.writes
    now = timestamp(store.clock.now())
    shapes.check(target.resource, obj)

    def applied(live: Object) -> Object:
        return apply(live, obj, MANAGER, now, force=True)

    collection = target._replace(name="")
    if not target.name:
        record = await writes.create(collection, obj, call)
        return f"created {record.key[1]}"
    before = store.table(target.resource).get((target.namespace, target.name))
    if before is None:
        await writes.create(collection, applied({"metadata": {"name": target.name}}), call)
        return "created"
    record = await writes.update(target, applied, call)
    return "unchanged" if record is before else "configured"


async def delete(target: Target, cluster: Cluster, call: Call) -> str:
    """Delete an object, and in the background what belongs to it."""
    await cluster.server.writes.delete(target, Options(propagation="Background"), call)
    return ""


async def scale(target: Target, replicas: int, cluster: Cluster, call: Call) -> str:
    """Set the replicas of a workload; the target is its scale."""
    server = cluster.server

    def scaled(scale: Object) -> Object:
        return {**scale, "spec": {"replicas": replicas}}

    await actions.rescale(server.store, server.writes, target, scaled, call)
    return ""


async def patch(target: Target, wanted: Object, cluster: Cluster, call: Call) -> str:
    """Merge something into an object."""

    def patched(obj: Object) -> Any:  # noqa: ANN401  a map, as `obj` is one
        return merge_patch(obj, wanted)

    await cluster.server.writes.update(target, patched, call)
    return ""


async def taint(name: str, taints: list[Object], cluster: Cluster, call: Call) -> str:
    """Give a node these taints and no others, besides Kubernetes' own."""

    def tainted(node: Object) -> Object:
        node = copy(node)
        have = node["spec"].get("taints") or ()
        own = [one for one in have if one["key"].startswith(_KUBERNETES)]
        node["spec"]["taints"] = own + taints
        return node

    await cluster.server.writes.update(Target(NODES, "", name), tainted, call)
    return ""


async def drain(name: str, cluster: Cluster, call: Call) -> str:
    """Cordon it and evict its pods, as `kubectl drain --ignore-daemonsets --force` does."""
    await patch(Target(NODES, "", name), {"spec": {"unschedulable": True}}, cluster, call)
    store, writes, evicted = cluster.server.store, cluster.server.writes, 0
    for record in list(store.table(PODS).records()):
        owner = controller_of(record.object) or {}
        if record.object["spec"].get("nodeName") != name or owner.get("kind") == "DaemonSet":
            continue
        await actions.evict(writes, Target(PODS, *record.key, "eviction"), {}, call)
        evicted += 1
    return f"{evicted} evicted"


async def kubelet(name: str, verb: str, cluster: Cluster, call: Call) -> str:
    """Restart, stop or start the kubelet of a node."""
    del call  # nothing is written through the API here
    one = cluster.kubelet(name)
    {"restart": one.restart, "stop": one.stop, "start": one.start}[verb]()
    return ""


async def switch_on(fault: Fault, cluster: Cluster, call: Call) -> str:
    """Switch on a fault."""
    del call  # as above
    cluster.server.faults.on(fault)
    return ""
