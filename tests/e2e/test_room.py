"""Room appears: every pod that fits somewhere runs soon, and nothing that ran is ever touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from e2e import workloads
from e2e.api import until
from e2e.world import ROOM_S

from evencore.domain import names

if TYPE_CHECKING:
    from e2e.world import World


@pytest.mark.parametrize(
    ("kind", "replicas"),
    [("Deployment", 1), ("Deployment", 5), ("StatefulSet", 2)],
)
def test_held_pods_run_when_pinned_pods_end(kind: str, replicas: int, world: World) -> None:
    with world.namespace(f"room-{kind}-{replicas}".lower()) as namespace:
        fillers = world.fill(namespace, "room", 12, 12)
        hosts = world.nodes.hosts("room")
        world.api.make(workloads.workload(kind, namespace, "w", hosts, "16", replicas=replicas))
        until(lambda: world.counter.held(namespace, "w"), "a pod is held")
        for filler in fillers:
            world.end(filler)
        until(
            lambda: len(world.counter.running(namespace, "w")) == replicas,
            lambda: world.story(namespace),
            ROOM_S,
        )


def test_a_job_that_was_held_runs_and_its_rejected_pods_keep_their_finalizer_until_counted(
    world: World,
) -> None:
    """Case 36: bookkeeping is the Job controller's; we only wait for better times."""
    with world.namespace("room-job") as namespace:
        fillers = world.fill(namespace, "room", 12, 12)
        world.api.make(workloads.workload("Job", namespace, "w", world.nodes.hosts("room"), "16"))
        until(lambda: world.counter.held(namespace, "w"), "the next pod of the Job is held")
        assert len(world.counter.rejected(namespace, "w")) == 1
        told = world.api.events(namespace, names.TOPOLOGY_REJECTED, "Job")
        assert [event["type"] for event in told] == ["Warning"]
        for filler in fillers:
            world.end(filler)
        until(lambda: world.counter.running(namespace, "w"), "it runs", ROOM_S)
        [life] = world.counter.rejected(namespace, "w")
        assert not life.gone, "a Job's failed pods are its bookkeeping"
        job = world.api.one("Job", namespace, "w")
        assert (job["spec"]["backoffLimit"], job["status"]["failed"]) == (6, 1)


def test_a_replica_that_is_rejected_by_the_schedulers_favourite_runs_on_the_next_node(
    world: World,
) -> None:
    """Case 34: few fail, the next is kept off that node, and the owner hears why."""
    with world.namespace("case-34") as namespace:
        full, free, _ = world.nodes.hosts("room")
        # Two pods of 12 CPUs leave no room for 16 in either NUMA node of the first; the second has
        # less left in the scheduler's eyes, for a pod there asks for much and pins nothing.
        for node, cpus in ((full, "12"), (full, "12"), (free, "28")):
            number = len(world.counter.lives(namespace))
            filler = workloads.pod(namespace, f"filler-{number}", [node], cpus)
            if node == free:
                filler["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpus}}
            world.api.make(filler)
            until(lambda: len(world.counter.running(namespace)) == number + 1, "fillers run")  # noqa: B023  waited for within the turn
        deployment = workloads.workload("Deployment", namespace, "w", [full, free], "16")
        world.api.make(deployment)
        until(lambda: world.counter.running(namespace, "w"), "it runs", ROOM_S)
        [runs] = world.counter.running(namespace, "w")
        assert runs.pod["spec"]["nodeName"] == free
        assert 1 <= len(world.counter.rejected(namespace, "w")) <= 3
        until(
            lambda: world.api.events(namespace, names.NODE_EXCLUDED, "ReplicaSet"),
            "the ReplicaSet is told which node is excluded",
        )
        now = world.api.one("Deployment", namespace, "w")
        assert now["metadata"]["generation"] == 1, "nobody has changed the Deployment"


def test_a_rejected_pod_that_nobody_controls_is_told_and_left_alone(world: World) -> None:
    """Case 38."""
    with world.namespace("case-38") as namespace:
        world.fill(namespace, "room", 12, 12)
        world.api.make(workloads.pod(namespace, "solo", world.nodes.hosts("room"), "16"))
        until(
            lambda: world.api.events(namespace, names.TOPOLOGY_REJECTED, "Pod"),
            "the pod has an Event that says what to do",
        )
        [solo] = world.counter.lives(namespace, "solo")
        assert (solo.phase, solo.gone) == ("Failed", False)
