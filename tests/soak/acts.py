"""What people do in a story: workloads of all kinds come, change and go.

Each act says what it does and does it, or returns None if there is nothing to do it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evencore.domain import names
from simulator.clock import timestamp
from soak.pods import gates_of
from soak.rooms import cordon, empty, fill, relabel, spec_of, squeeze
from soak.world import PODS_PATH

if TYPE_CHECKING:
    from collections.abc import Callable

    from soak.world import World

    Act = Callable[[World], str | None]

Object = dict[str, Any]

APPS: Final = "/apis/apps/v1/namespaces/soak"
KINDS: Final = {
    "Deployment": f"{APPS}/deployments",
    "ReplicaSet": f"{APPS}/replicasets",
    "StatefulSet": f"{APPS}/statefulsets",
    "DaemonSet": f"{APPS}/daemonsets",
    "ReplicationController": "/api/v1/namespaces/soak/replicationcontrollers",
    "Job": "/apis/batch/v1/namespaces/soak/jobs",
}
_WEIGHTS: Final = (4, 2, 3, 1, 2, 2)
MOST: Final = 5
"""Workloads at the same time."""
SPACE: Final = "/api/v1/namespaces/soak"
QUOTA: Final = "example.io/quota"


def make_workload(world: World) -> str | None:
    """Make a workload."""
    if len(world.paths) >= MOST:
        return None
    chance = world.chance
    kind = chance.choices(list(KINDS), _WEIGHTS)[0]
    cpus = chance.choice(["2500m", "3", "11", "12", "16", "16"])
    replicas = chance.choice([1, 2, 5, 20])
    wish = chance.choice([None] * 15 + ["exclude"])
    return _make(world, kind, cpus, replicas, wish, gated=chance.random() < 0.1)


_LEAVE_THEM: Final = ("Deployment", "ReplicaSet", "ReplicationController")
"""Their rejected pods stay lying about; a StatefulSet's are deleted at once."""


def make_stubborn(world: World, *, leaving: bool) -> str:
    """Make a workload that no node takes that is squeezed; `leaving`: one that leaves its pods."""
    kind = world.chance.choice(_LEAVE_THEM if leaving else (*_LEAVE_THEM, "StatefulSet"))
    return _make(world, kind, "16", 5, gated=False)


def _make(  # noqa: PLR0913  what there is to say of a workload
    world: World, kind: str, cpus: str, replicas: int, wish: str | None = None, *, gated: bool
) -> str:
    chance, name = world.chance, world.name("w")
    labels = {"app": name}
    template: Object = {"metadata": {"labels": labels}, "spec": spec_of(cpus)}
    spec: Object = {"template": template}
    if gated:
        template["spec"]["schedulingGates"] = [{"name": QUOTA}]
    if wish:
        template["metadata"]["annotations"] = {names.ON_REJECTION: wish}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        spec |= {"parallelism": min(replicas, 5), "completions": replicas}
        spec |= {"backoffLimit": chance.choice([0, 1, 6])}
    else:
        selector = labels if kind == "ReplicationController" else {"matchLabels": labels}
        spec |= {"selector": selector} | ({} if kind == "DaemonSet" else {"replicas": replicas})
    if kind == "StatefulSet":
        spec["podManagementPolicy"] = chance.choice(["OrderedReady", "Parallel"])
    world.paths[name] = f"{KINDS[kind]}/{name}"
    # Who may not be held is kept off nodes only while one is left: such a loop goes on.
    world.witness.budget.anew(name, world.now())
    if wish:
        world.witness.budget.leave_out(name)
    world.send("POST", KINDS[kind], {"metadata": {"name": name}, "spec": spec})
    return f"{kind} {name}: {replicas} of {cpus} CPUs{f', {wish}' if wish else ''}"


def delete_workload(world: World) -> str | None:
    """Delete one, with its pods or without."""
    if not world.paths:
        return None
    name = world.chance.choice(list(world.paths))
    policy = world.chance.choice(["Background", "Background", "Orphan", "Foreground"])
    world.send("DELETE", world.paths.pop(name), {"propagationPolicy": policy})
    return f"{name} is deleted, {policy}"


def roll(world: World) -> str | None:
    """Change the template of one."""
    kinds = ("/deployments/", "/statefulsets/", "/daemonsets/")
    found = [n for n, path in world.paths.items() if any(kind in path for kind in kinds)]
    if not found:
        return None
    name = world.chance.choice(found)
    world.witness.budget.anew(name, world.now())
    meta = {"annotations": {"rolled": str(world.now())}}
    world.patch(world.paths[name], {"spec": {"template": {"metadata": meta}}})
    return f"{name} is rolled"


def scale(world: World) -> str | None:
    """Scale one."""
    kinds = ("/jobs/", "/daemonsets/")
    found = [n for n, path in world.paths.items() if not any(kind in path for kind in kinds)]
    if not found:
        return None
    name, replicas = world.chance.choice(found), world.chance.choice([0, 1, 3, 10])
    world.witness.budget.anew(name, world.now())
    world.patch(world.paths[name], {"spec": {"replicas": replicas}})
    return f"{name} is scaled to {replicas}"


def delete_pod(world: World) -> str | None:
    """Delete any pod, as people and operators do."""
    found = [pod for pod in world.pods() if pod["metadata"].get("ownerReferences")]
    if not found:
        return None
    name = world.chance.choice(found)["metadata"]["name"]
    world.send("DELETE", f"{PODS_PATH}/{name}", None)
    return f"somebody deletes {name}"


def forge(world: World) -> str | None:
    """Write what somebody of another namespace may, about a pod and a node of ours."""
    found = world.pods()
    nodes = world.nodes()
    if not found or not nodes:
        return None
    meta, node = world.chance.choice(found)["metadata"], world.chance.choice(nodes)
    for about, reason in (
        ({"kind": "Pod", "name": meta["name"], "uid": meta["uid"]}, "TopologyAffinityError"),
        ({"kind": "Node", "name": node, "uid": node}, "Starting"),
    ):
        event = {
            "metadata": {"name": world.name("forged"), "namespace": "tenant"},
            "involvedObject": {**about, "namespace": "tenant"},
            "reason": reason,
            "source": {"component": "kubelet", "host": node},
            "lastTimestamp": timestamp(world.now() + 3),
            "type": "Warning",
        }
        world.send("POST", "/api/v1/namespaces/tenant/events", event)
    return f"forged Events about {meta['name']} and {node}"


def ungate(world: World) -> str | None:
    """Let somebody else's gates go, all of one pod."""
    theirs = [pod for pod in world.pods() if QUOTA in gates_of(pod)]
    if not theirs:
        return None
    pod = world.chance.choice(theirs)
    ungate_pod(world, pod)
    return f"{pod['metadata']['name']} is held by nobody else any more"


def ungate_pod(world: World, pod: Object) -> None:
    """Take the gates of others off a pod."""
    ours = [{"name": names.HOLD}] if names.HOLD in gates_of(pod) else []
    path = f"{PODS_PATH}/{pod['metadata']['name']}"
    world.patch(path, {"spec": {"schedulingGates": ours}})


def leave(world: World) -> str:
    """Take the namespace out for a while; what is made meanwhile is not our doing."""
    join(world, value=None)
    world.later(world.chance.uniform(0.1, 15), lambda: join(world))
    return "the namespace takes no part for a while"


def join(world: World, value: str | None = names.ENABLED) -> None:
    """Take the namespace in, or out."""
    world.out = value is None
    world.patch(SPACE, {"metadata": {"labels": {names.ADMISSION: value}}})


def wish(world: World) -> str:
    """Say for the whole namespace how far we may go, for a while."""
    value = world.chance.choice(["exclude", "report"])
    world.wish = True
    world.patch(SPACE, {"metadata": {"annotations": {names.ON_REJECTION: value}}})
    world.later(world.chance.uniform(1, 20), lambda: no_wish(world))
    return f"the namespace wants {value} for a while"


def no_wish(world: World) -> None:
    """Take that back."""
    world.wish = False
    world.patch(SPACE, {"metadata": {"annotations": {names.ON_REJECTION: None}}})


ACTS: Final[dict[Act, int]] = {
    make_workload: 6,
    delete_workload: 2,
    roll: 2,
    scale: 3,
    fill: 9,
    empty: 5,
    squeeze: 2,
    delete_pod: 1,
    forge: 1,
    relabel: 1,
    cordon: 1,
    ungate: 2,
    leave: 1,
    wish: 1,
}
"""With how often they happen."""
