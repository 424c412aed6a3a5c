"""What befalls nodes: kubelets restart, fall silent and come back; nodes go, come, and change.

Each fault says what it does and does it, or returns None if there is nothing to do it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.kubelet.kubelet import Kubelet
from soak.world import PODS_PATH

if TYPE_CHECKING:
    from collections.abc import Callable

    from soak.world import World

_STRICT: Final = {
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": True},
    "topologyManagerPolicy": "single-numa-node",
    "reservedSystemCPUs": "0,24",
}
_KUBELETS: Final[tuple[dict[str, Any], ...]] = (
    _STRICT,
    _STRICT | {"topologyManagerPolicy": "best-effort"},
    _STRICT | {"topologyManagerScope": "pod"},
    _STRICT | {"cpuManagerPolicyOptions": {}},
    {"reservedSystemCPUs": "0,24"},
)


def restart_kubelet(world: World) -> str | None:
    """Restart a kubelet: all that runs there goes through admission again."""
    node = _one(world)
    if node is None:
        return None
    _in_cluster(world, lambda: world.cluster.kubelet(node).restart())
    return f"the kubelet of {node} restarts"


def lose_node(world: World) -> str | None:
    """Let a node fall silent, for shorter or longer than it takes until it counts as lost."""
    node = _one(world)
    if node is None or len(world.nodes()) < 2:
        return None
    seconds = world.chance.choice([5, 55, 120])
    _in_cluster(world, lambda: world.cluster.kubelet(node).stop())
    world.later(seconds, lambda: come_back(world, node))
    return f"{node} is silent for {seconds} s"


def delete_node(world: World) -> str | None:
    """Take a node away with all that is on it; one of the same name comes in its place."""
    node = _one(world)
    if node is None or len(world.nodes()) < 2:
        return None
    _in_cluster(world, lambda: world.cluster.kubelet(node).stop())
    world.send("DELETE", f"/api/v1/nodes/{node}", None)
    world.later(world.chance.choice([5, 60, 200]), lambda: come_back(world, node))
    return f"{node} is deleted"


def refit(world: World, wanted: dict[str, Any] | None = None) -> str | None:
    """Change the settings of a kubelet, as people do: drain, stop, change, start."""
    node = _one(world)
    if node is None or len(world.nodes()) < 2:
        return None
    settings = wanted or world.chance.choice(_KUBELETS)
    set_kubelet(world, node, settings)
    return f"{node} is drained, and its kubelet set to {settings}"


def set_kubelet(world: World, node: str, settings: dict[str, Any]) -> None:
    """Drain a node and change its kubelet."""
    for pod in world.pods():
        if pod["spec"].get("nodeName") == node:
            path = f"{PODS_PATH}/{pod['metadata']['name']}"
            world.send("DELETE", path, {"gracePeriodSeconds": 0})
    fleet = world.cluster._fleet  # noqa: SLF001  a kubelet with other settings is a new one
    assert fleet is not None
    before = fleet[node]
    described = before.file.model_dump(by_alias=True, exclude_defaults=True)
    file = type(before.file).model_validate(described | {"kubelet": settings})
    number = before._number  # noqa: SLF001  its address
    after = Kubelet(fleet._site, node, number, file)  # noqa: SLF001  as the fleet makes them
    world.cluster.server.call(before.stop)
    fleet._kubelets[node] = after  # noqa: SLF001
    if node in world.nodes():
        world.send("DELETE", f"/api/v1/nodes/{node}", None)
    _in_cluster(world, after.start)


def come_back(world: World, node: str) -> None:
    """Let a node be there again."""
    kubelet = world.cluster.kubelet(node)
    if not kubelet._up:  # noqa: SLF001  one that is up would start twice
        _in_cluster(world, kubelet.start)


def all_nodes(world: World) -> list[str]:
    """Return the names of all that there are or were."""
    fleet = world.cluster._fleet  # noqa: SLF001
    assert fleet is not None
    return list(fleet._kubelets)  # noqa: SLF001


def is_strict(world: World, node: str) -> bool:
    """Tell whether a node is as all were in the beginning."""
    return world.cluster.kubelet(node).file.kubelet.model_dump(by_alias=True) == _plain(
        world, node, _STRICT
    )


def _plain(world: World, node: str, settings: dict[str, Any]) -> dict[str, Any]:
    kind = type(world.cluster.kubelet(node).file.kubelet)
    return kind.model_validate(settings).model_dump(by_alias=True)


def make_strict(world: World, node: str) -> None:
    """Let a node be as in the beginning."""
    if not is_strict(world, node):
        set_kubelet(world, node, dict(_STRICT))


def _one(world: World) -> str | None:
    up = [
        name
        for name in world.nodes()
        if world.cluster.kubelet(name)._up  # noqa: SLF001  who is silent cannot fall silent
    ]
    return world.chance.choice(up) if up else None


def _in_cluster(world: World, what: Callable[[], None]) -> None:
    world.cluster.server.call(what)
    world.cluster.settle()


MACHINES: Final[dict[Callable[[World], str | None], int]] = {
    restart_kubelet: 3,
    lose_node: 2,
    delete_node: 1,
    refit: 1,
}
"""With how often they happen."""
