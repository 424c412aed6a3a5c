"""Processes that die, an API server that is away, a webhook that is away: nothing is lost by it."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING

from e2e import workloads
from e2e.api import path_of, until
from e2e.world import ROOM_S

from evencore.domain import names

if TYPE_CHECKING:
    from e2e.api import Object
    from e2e.world import World

FINALIZER = "example.com/hold"

LEASE_S = 20.0
"""So long a Lease may outlive a controller that was killed."""


def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(
    world: World, *, long: bool
) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")  # noqa: T201  pytest shows it when the test fails
    chance = random.Random(seed)  # noqa: S311  no secret
    for turn in range(5 if long else 1):
        with world.namespace(f"kills-{turn}") as namespace:
            fillers = world.fill(namespace, "room", 12, 12)
            hosts = world.nodes.hosts("room")
            made = workloads.workload("Deployment", namespace, "w", hosts, "16", replicas=2)
            world.api.make(made)
            # A moment of the story, not of the clock: after so many pods have been seen.
            seen = chance.randint(1, 4)
            until(
                lambda: len(world.counter.lives(namespace, "w")) >= seen,  # noqa: B023  waited for within the turn
                "pods are made",
            )
            victims = [world.webhook, world.controllers["a"]]
            chance.shuffle(victims)
            for victim in victims:
                victim.kill()
            world.mend()
            until(lambda: world.at_peace(namespace, "w"), lambda: world.story(namespace))
            for filler in fillers:
                world.end(filler)
            until(
                lambda: len(world.counter.running(namespace, "w")) == 2,
                lambda: world.story(namespace),
                ROOM_S + LEASE_S,
            )


def test_while_the_api_server_is_away_the_webhook_goes_on_and_the_controller_comes_back(
    world: World,
) -> None:
    with world.namespace("api-away") as namespace:
        fillers = world.fill(namespace, "room", 12, 12)
        hosts = world.nodes.hosts("room")
        world.api.make(workloads.workload("Deployment", namespace, "before", hosts, "16"))
        until(lambda: world.counter.held(namespace, "before"), "a pod is held")
        with world.away():
            # A leader that cannot renew its lease ends itself, for another may lead by now.
            assert world.controllers["a"].wait() == 1
            spare = world.nodes.hosts("spare")
            world.api.make(workloads.workload("Deployment", namespace, "odd", spare, "3"))
            until(
                lambda: world.counter.running(namespace, "odd"),
                "the webhook answers from memory",
            )
            assert world.counter.rejected(namespace, "odd") == []
            for filler in fillers:
                world.end(filler)
        world.mend()
        until(lambda: world.counter.running(namespace, "before"), "it runs", ROOM_S + LEASE_S)


def test_while_the_webhook_is_away_pods_loop_as_ever_and_it_ends_when_it_is_back(
    world: World,
) -> None:
    """And case 42: what others' finalizers keep is asked to go once, and then waited for."""
    with world.namespace("webhook-away") as namespace:
        world.fill(namespace, "room", 12, 12)
        world.webhook.kill()
        hosts = world.nodes.hosts("room")
        looping = workloads.workload("Deployment", namespace, "w", hosts, "16")
        looping["spec"]["template"]["metadata"]["finalizers"] = [FINALIZER]
        world.api.make(looping)
        until(lambda: len(world.counter.rejected(namespace, "w")) > 20, "pods are rejected")
        world.mend()
        until(lambda: world.counter.held(namespace, "w"), "the first that it sees is held")

        def going() -> list[Object]:
            pods = [life.pod for life in world.counter.rejected(namespace, "w")]
            return [pod for pod in pods if "deletionTimestamp" in pod["metadata"]]

        until(going, "what the loop has left is cleaned up")
        once = {pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in going()}
        until(
            lambda: world.api.events(namespace, names.REJECTED_PODS_DELETED, "ReplicaSet"),
            "the ReplicaSet is told",
        )
        now = {pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in going()}
        assert once.items() <= now.items(), "nobody has touched them again"
        world.api.delete(path_of(looping))
        for pod in world.api.there("Pod", namespace):
            if FINALIZER in (pod["metadata"].get("finalizers") or ()):
                path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}"
                world.api.merge(path, {"metadata": {"finalizers": None}})
