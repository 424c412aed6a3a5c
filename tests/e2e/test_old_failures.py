"""Many rejected pods that were there before us: judged at once, cleaned up slowly."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from e2e import workloads
from e2e.api import path_of, until

from evencore.domain.policy import Policy
from evencore.settings import ControllerSettings

if TYPE_CHECKING:
    from e2e.api import Object
    from e2e.world import World


def leave(world: World, namespace: str, owner: Object, number: int) -> None:
    """Make pods that their kubelets reject, and make them those of `owner`.

    A ReplicaSet looks at no pod that has failed: it neither adopts nor counts them.
    """
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    nodes = world.nodes.names("room")

    def one(which: int) -> None:
        pod = workloads.pod(namespace, f"old-{which}", (), "16")
        pod["spec"] = {
            "nodeName": nodes[which % len(nodes)],
            "containers": workloads.containers("16"),
        }
        world.api.make(pod)

    def adopt(pod: Object) -> None:
        world.api.merge(path_of(pod), {"metadata": {"ownerReferences": [reference]}})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(one, range(number)))
        until(
            lambda: sum(bool(life.rejected) for life in world.counter.lives(namespace)) >= number,
            "all are rejected",
        )
        rejected = [life.pod for life in world.counter.lives(namespace) if life.rejected]
        list(threads.map(adopt, rejected))


def test_verdict_at_once_and_a_bounded_rate_of_deletes(world: World, *, long: bool) -> None:
    number = 10_000 if long else 200
    world.webhook.kill()
    world.controllers["a"].stop()
    with world.namespace("old") as namespace:
        world.fill(namespace, "room", 12, 12)
        replica_set = workloads.workload(
            "ReplicaSet", namespace, "w", world.nodes.hosts("room"), "16", replicas=0
        )
        owner = world.api.make(replica_set)
        leave(world, namespace, owner, number)
        begin = time.monotonic()
        world.mend()
        world.api.merge(path_of(owner), {"spec": {"replicas": 1}})
        until(lambda: world.counter.held(namespace, "w"), "its next pod is held")
        assert world.counter.rejected(namespace, "w") == [], "the first pod that we see is held"

        def left() -> int:
            lives = world.counter.lives(namespace)
            return sum(bool(life.rejected) and not life.gone for life in lives)

        until(lambda: left() < number - 100, lambda: f"{left()} are left")
        settings = ControllerSettings()
        deleted, took = number - left(), time.monotonic() - begin
        assert deleted <= settings.write_burst + settings.writes_per_second * took
        if not long:
            # What is kept decides as all of them did, so it is more than people read.
            until(lambda: left() <= 50, lambda: f"{left()} are left", 120)
            assert left() >= Policy().rejections.keep
