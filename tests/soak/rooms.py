"""What people do to nodes in a story: room there comes and goes.

Each act says what it does and does it, or returns None if there is nothing to do it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evencore.domain import names
from soak.world import PODS_PATH

if TYPE_CHECKING:
    from soak.world import World

Object = dict[str, Any]


def fill(world: World) -> str:
    """Take room away."""
    return _fill(world, world.chance.choice(["2", "6", "10", "12", "12", "12"]))


def _fill(world: World, cpus: str) -> str:
    name = world.name("filler")
    meta = {"name": name, "labels": {"app": "filler", names.ADMISSION: names.DISABLED}}
    world.send("POST", PODS_PATH, {"metadata": meta, "spec": spec_of(cpus)})
    return f"{name} of {cpus} CPUs"


def crowd(world: World) -> None:
    """Fill all nodes but for what is stranded: 10 or 12 CPUs in a NUMA node, 22 in all."""
    for _ in range(2 * len(world.nodes())):
        _fill(world, "12")


def squeeze(world: World) -> str:
    """Strand room on all nodes: the scheduler sees 22 CPUs, and no NUMA node has more than 12."""
    for pod in world.pods("filler"):
        world.send("DELETE", f"{PODS_PATH}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
    crowd(world)
    return "on each node 22 CPUs are free, and 12 together"


def empty(world: World) -> str | None:
    """Let room appear."""
    fillers = world.pods("filler")
    if not fillers:
        return None
    name = world.chance.choice(fillers)["metadata"]["name"]
    world.send("DELETE", f"{PODS_PATH}/{name}", None)
    return f"{name} ends"


def relabel(world: World) -> str | None:
    """Label a node."""
    nodes = world.nodes()
    if not nodes:
        return None
    node, zone = world.chance.choice(nodes), str(world.chance.randrange(3))
    world.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"zone": zone}}})
    return f"{node} is in zone {zone}"


def cordon(world: World) -> str | None:
    """Cordon a node, for a while."""
    nodes = world.nodes()
    if len(nodes) < 2:
        return None
    node = world.chance.choice(nodes)
    _cordon(world, node, value=True)
    world.later(world.chance.uniform(10, 200), lambda: uncordon(world, node))
    return f"{node} is cordoned"


def uncordon(world: World, node: str) -> None:
    """Let pods go there again."""
    if node in world.nodes():
        _cordon(world, node, value=False)


def _cordon(world: World, node: str, *, value: bool) -> None:
    world.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": value or None}})


def spec_of(cpus: str) -> Object:
    """Make the spec of a pod."""
    amounts = {"cpu": cpus, "memory": "64Mi"}
    container = {"name": "app", "image": "registry.example/app:1", "resources": {"limits": amounts}}
    return {"terminationGracePeriodSeconds": 1, "containers": [container]}
