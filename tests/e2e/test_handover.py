"""Two controllers: one works, the other waits; when the first is gone nothing is done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from e2e import workloads
from e2e.api import until
from e2e.world import ROOM_S

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.world import World


@pytest.fixture
def second(world: World) -> Iterator[str]:
    """Start a second controller, which waits."""
    world.start_controller("b", leads=False)
    yield "b"
    world.controllers["b"].stop()
    del world.controllers["b"]
    world.mend()


@pytest.mark.parametrize("end", ["stopped", "cut off"])
def test_the_second_takes_over_and_nothing_is_done_twice(
    end: str, world: World, second: str, *, long: bool
) -> None:
    if end == "cut off" and not long:
        pytest.skip("takes as long as a Lease: --long")
    with world.namespace(f"handover-{end.replace(' ', '-')}") as namespace:
        fillers = world.fill(namespace, "room", 12, 12)
        hosts = world.nodes.hosts("room")
        world.api.make(workloads.workload("Deployment", namespace, "w", hosts, "16", replicas=3))
        until(lambda: world.at_peace(namespace, "w"), "pods are held")
        first = world.controllers["a"]
        if end == "stopped":
            assert first.stop() == 0, first.log()
        else:
            with world.away("controller-a"):
                assert first.wait() == 1
        until(lambda: world.leads(second), world.controllers[second].log)
        for filler in fillers:
            world.end(filler)
        until(
            lambda: len(world.counter.running(namespace, "w")) == 3,
            lambda: world.story(namespace),
            ROOM_S,
        )
        let_go = [life for life in world.counter.lives(namespace, "w") if life.let_go]
        told: dict[str, int] = {}
        for event in world.api.events(namespace, names.POD_RELEASED, "Pod"):
            uid = event["involvedObject"]["uid"]
            told[uid] = told.get(uid, 0) + event["count"]
        assert set(told.values()) == {1}, "each pod is let go, and told of, once"
        assert set(told) <= {life.pod["metadata"]["uid"] for life in let_go}
