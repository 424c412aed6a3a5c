"""What comes to pass when nothing disturbs: what fits runs, and nothing stays lying about.

For: ending all faults, making room, and waiting, not longer than is promised.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from evencore.domain import names
from soak import acts, faults, machines, rooms
from soak.pods import app_of, gates_of
from soak.world import PODS_PATH

if TYPE_CHECKING:
    from soak.world import World

Object = dict[str, Any]

RECOVERED: Final = "our processes recover when the faults are over"
FITS: Final = "what fits runs, once there is room and nothing disturbs"
TIDY: Final = "rejected pods are cleaned up: 10 s after the last, 10 a second"
RECOVERY_S: Final = 120.0
ROOM_S: Final = 45.0
"""A release that room makes sooner comes after 30 s; then 1, 2, 4, ... pods. Who is not woken by
room looks every 60 s all the same, and would be too late."""
MOST_LEFT: Final = 50
"""As many as a loop may leave, and more than any verdict needs."""
_NUMA_CPUS: Final = (22, 24)


def rest(world: World) -> None:
    """Let everything come to rest, and look at it."""
    early = world.chance.random() < 0.5
    if early:
        _make_room(world)
    end_faults(world)
    kept = _hardest(world)
    keep(world, kept)
    world.pass_time(65)  # lost nodes count as there again, and what is deleted is gone
    _wait_for_ours(world)
    if not early:
        _make_room(world)
    if kept is not None:
        _await(world, kept)
        world.check()
    _look_at_leftovers(world)
    world.check()


def end_faults(world: World) -> None:
    """Let everything work."""
    world.say("all faults end")
    world.forget_later()
    world.cluster.server.call(world.cluster.server.faults.all_off)
    world.troubled_until = world.now()
    world.outage.over()
    world.door.absent, world.door.slow_s = False, 0.0
    for one in world.processes():
        one.freeze(0.0)
        one.off = timedelta(0)
        faults.clear_up(world, one)
    for _ in range(2 - len(world.webhooks)):
        world.start_webhook()
    for _ in range(1 - len(world.controllers)):
        world.start_controller()
    for node in machines.all_nodes(world):
        machines.come_back(world, node)
        machines.make_strict(world, node)
        rooms.uncordon(world, node)
    acts.no_wish(world)
    acts.join(world)


def _hardest(world: World) -> str | None:
    """Return the workload of which most pods are held."""
    held = Counter(app_of(pod) for pod in world.pods() if names.HOLD in gates_of(pod))
    alike = [name for name, path in world.paths.items() if _can_be_scaled(path)]
    return max(alike, key=lambda name: held[name], default=None)


def keep(world: World, kept: str | None) -> None:
    """Delete all workloads but one."""
    for name in [name for name in world.paths if name != kept]:
        world.send("DELETE", world.paths.pop(name), {"propagationPolicy": "Background"})
    for one in world.read(f"{acts.APPS}/replicasets")["items"]:
        if app_of(one["spec"]["template"]) != kept:  # its Deployment was deleted without it
            world.send("DELETE", f"{acts.APPS}/replicasets/{one['metadata']['name']}", None)
    for pod in world.pods():
        hangs = "deletionTimestamp" in pod["metadata"]  # its kubelet was away when it was to go
        if app_of(pod) not in (kept, "filler") or hangs:
            world.send(
                "DELETE", f"{PODS_PATH}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0}
            )
        elif acts.QUOTA in gates_of(pod):
            acts.ungate_pod(world, pod)
    world.say(f"of workloads only {kept} is left")


def _wait_for_ours(world: World) -> None:
    begin = world.now()
    world.pass_time(RECOVERY_S + 1, lambda: world.witness.able() and world.witness.sure())
    left = RECOVERY_S - (world.now() - begin)
    world.promises.within(RECOVERED, left, "s", f"not within {RECOVERY_S:.0f} s")
    world.pass_time(1)


def _make_room(world: World) -> None:
    world.say("there is room")
    for pod in world.pods("filler"):
        world.send("DELETE", f"{PODS_PATH}/{pod['metadata']['name']}", None)


def _await(world: World, name: str) -> None:
    workload = world.read(world.paths[name])
    spec = workload["spec"]
    gated = "schedulingGates" in spec["template"]["spec"]
    wanted = 0 if gated else min(spec.get("replicas", 0), _fits(world, spec))
    begin = world.now()
    world.say(f"{wanted} of {name} are to run")
    while (running := _running(world, name)) < wanted and world.now() - begin <= ROOM_S:
        world.pass_time(1)
    left = ROOM_S - (world.now() - begin)
    phases = [(p["status"].get("phase"), *gates_of(p)) for p in world.pods(name)]
    wrong = f"{running} of {name} run, {wanted} fit: {phases}"
    if wanted:
        world.promises.within(FITS, left, "s", wrong)


def _fits(world: World, spec: Object) -> int:
    """Return how many such pods fit into the cluster when nobody else is there."""
    cpu = spec["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"]
    millis = int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
    size = -(-millis // 2000) * 2
    return len(machines.all_nodes(world)) * sum(numa // size for numa in _NUMA_CPUS)


def _running(world: World, name: str) -> int:
    return sum(
        pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        for pod in world.pods(name)
    )


def _look_at_leftovers(world: World) -> None:
    begin, most_s = world.now(), 30 + _most_of_one(world) / 10
    while (number := _most_of_one(world)) > MOST_LEFT and world.now() - begin <= most_s:
        world.pass_time(1)
    left = most_s - (world.now() - begin)
    world.promises.within(TIDY, left, "s", f"{number} of one owner are left")


def _most_of_one(world: World) -> int:
    """Count the rejected pods of who has most of them."""
    left: dict[str, int] = {}
    for pod in world.pods():
        if pod["status"].get("phase") == "Failed" and _is_cleaned(pod):
            owner = pod["metadata"]["ownerReferences"][0]["uid"]
            left[owner] = left.get(owner, 0) + 1
    return max(left.values(), default=0)


def _is_cleaned(pod: Object) -> bool:
    owners = pod["metadata"].get("ownerReferences") or [{}]
    return owners[0].get("kind") in {"ReplicaSet", "ReplicationController"}


def _can_be_scaled(path: str) -> bool:
    return "/jobs/" not in path and "/daemonsets/" not in path


LEFT: Final = "nothing of ours is left after uninstalling"


def leftovers(pod_or_node: Object, kind: str) -> str | None:
    """Say what of ours an object still has, that uninstalling should have taken off."""
    meta = pod_or_node["metadata"]
    if kind == "Pod":
        return "our gate" if names.HOLD in gates_of(pod_or_node) else None
    ours = [
        key
        for part in ("labels", "annotations")
        for key in meta.get(part) or {}
        if key.startswith(names.PREFIX)
    ]
    return f"{ours}" if ours else None
