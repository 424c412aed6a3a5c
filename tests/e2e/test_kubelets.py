"""A kubelet that restarts asks all its pods again: what we wrote on them must not end them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e import workloads
from e2e.api import until
from e2e.world import ROOM_S

if TYPE_CHECKING:
    from e2e.world import World


def test_running_pods_with_injected_rules_live_on(world: World) -> None:
    with world.namespace("restart") as namespace, world.nodes.told("told"):
        fillers = world.fill(namespace, "room", 12, 12)
        kept_off = workloads.workload(
            "Deployment", namespace, "kept-off", world.nodes.hosts("told"), "20"
        )
        let_go = workloads.workload(
            "Deployment", namespace, "let-go", world.nodes.hosts("room"), "16"
        )
        world.api.make(kept_off)
        world.api.make(let_go)
        until(lambda: world.counter.held(namespace, "let-go"), "a pod is held")
        for filler in fillers:
            world.end(filler)
        for name in ("kept-off", "let-go"):
            until(lambda: world.counter.running(namespace, name), f"{name} runs", ROOM_S)  # noqa: B023  waited for within the turn
        running = world.counter.running(namespace)
        rules = [str(life.pod["spec"]["affinity"]) for life in running if life.workload]
        assert any("evencore.io/" in rule for rule in rules), "the test has tested nothing"
        for node in {life.pod["spec"]["nodeName"] for life in running}:
            world.restart_kubelet(node)
        # Kubelets ask in order: a pod that is made now is answered after all that were there.
        for node in {life.pod["spec"]["nodeName"] for life in running}:
            world.api.make(workloads.pod(namespace, f"after-{node}", [node], "2"))
            until(lambda: world.counter.running(namespace, f"after-{node}"), "it runs")  # noqa: B023  as above
        still = {life.pod["metadata"]["uid"] for life in world.counter.running(namespace)}
        assert {life.pod["metadata"]["uid"] for life in running} <= still
