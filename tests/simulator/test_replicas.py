"""ReplicaSets and ReplicationControllers: the hot loop as measured, and their ordinary life."""

from __future__ import annotations

import pytest
from controllers_support import MESSAGE, Still, play, selecting, template

from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.controllers.replicas import plan
from simulator.objects import dig
from simulator.resources import LIMIT_RANGES, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS

# Rejected pods a minute on a real control plane; the limit of requests makes the pace.
LOOPS = {
    "one replica: a create and a status update per turn": (1, 1, 590),
    "ten replicas: creates use the 20 requests a second": (1, 10, 1140),
    "five loops share the requests of one controller": (5, 1, 546),
}


@pytest.mark.parametrize(("sets", "replicas", "measured"), LOOPS.values(), ids=LOOPS)
def test_pace_of_the_loop(sets: int, replicas: int, measured: int) -> None:
    async def story(still: Still) -> None:
        for name in "abcde"[:sets]:
            await still.make(REPLICA_SETS, name, replicas=replicas, **selecting(name))
        assert await still.rejected_a_minute() == pytest.approx(measured, rel=0.15)
        failed = still.pods("Failed")
        assert {pod["status"]["message"] for pod in failed} == {MESSAGE}
        assert len(failed) >= len(still.kubelets.rejections), "failed pods stay"

    play(story)


def test_a_replication_controller_loops_as_a_replica_set_does() -> None:
    async def story(still: Still) -> None:
        labelled = template("old")
        await still.make(REPLICATION_CONTROLLERS, "old", replicas=1, template=labelled)
        assert await still.rejected_a_minute() == pytest.approx(590, rel=0.15)

    play(story)


def test_replicas_are_made_counted_and_deleted_again() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(REPLICA_SETS, "web", replicas=5, **selecting("web"))
        await still.background.advance(5)
        assert still.get(REPLICA_SETS, "web")["status"] == {
            "replicas": 5,
            "fullyLabeledReplicas": 5,
            "readyReplicas": 5,
            "availableReplicas": 5,
            "terminatingReplicas": 0,
            "observedGeneration": 1,
        }
        await still.change(REPLICA_SETS, "web", replicas=2)
        await still.background.advance(5)
        status = still.get(REPLICA_SETS, "web")["status"]
        assert (len(still.pods()), status["replicas"], status["observedGeneration"]) == (2, 2, 2)
        deleted = sorted(event["message"].split(": ")[0] for event in still.events())
        assert deleted == ["Created pod"] * 5 + ["Deleted pod"] * 3

    play(story)


def test_pods_that_are_ready_for_too_short_are_not_available_yet() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(REPLICA_SETS, "web", replicas=1, minReadySeconds=30, **selecting("web"))
        await still.background.advance(25)
        status = still.get(REPLICA_SETS, "web")["status"]
        assert (status["readyReplicas"], status.get("availableReplicas")) == (1, None)
        await still.background.advance(10)
        assert still.get(REPLICA_SETS, "web")["status"]["availableReplicas"] == 1

    play(story)


def test_a_gated_pod_is_a_replica_and_ends_the_loop() -> None:
    async def story(still: Still) -> None:
        gated = {**selecting("web"), "template": template("web", schedulingGates=[{"name": "a/b"}])}
        await still.make(REPLICA_SETS, "web", replicas=3, **gated)
        await still.background.advance(60)
        assert len(still.pods()) == 3

    play(story)


def test_a_pod_without_the_label_is_let_go_and_an_orphan_is_taken() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(REPLICA_SETS, "web", replicas=1, **selecting("web"))
        await still.background.advance(1)
        (first,) = still.pods()

        async def label(app: str) -> None:
            def change(pod: dict[str, object]) -> dict[str, object]:
                return {**pod, "metadata": {**pod["metadata"], "labels": {"app": app}}}  # type: ignore[dict-item]

            target = Target(PODS, "default", first["metadata"]["name"])
            await still.writes.update(target, change, Call())
            await still.background.advance(1)

        await label("other")
        owners = {
            pod["metadata"]["name"]: len(pod["metadata"].get("ownerReferences", ()))
            for pod in still.pods()
        }
        assert owners.pop(first["metadata"]["name"]) == 0
        assert list(owners.values()) == [1]
        await label("web")
        (left,) = still.pods()
        assert left["metadata"]["ownerReferences"][0]["name"] == "web"

    play(story)


def test_pods_that_are_refused_are_told_and_tried_less_and_less_often() -> None:
    async def story(still: Still) -> None:
        limit = {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}
        await still.make(LIMIT_RANGES, "small", **limit)
        await still.make(REPLICA_SETS, "web", replicas=4, **selecting("web"))
        await still.background.advance(60)
        condition = still.get(REPLICA_SETS, "web")["status"]["conditions"][0]
        assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")
        assert "maximum cpu usage per Container is 1" in condition["message"]
        events = still.events("FailedCreate")
        assert {event["type"] for event in events} == {"Warning"}
        assert 8 <= sum(event["count"] for event in events) <= 16
        await still.writes.update(
            Target(LIMIT_RANGES, "default", "small"), lambda obj: {**obj, "spec": {}}, Call()
        )
        await still.background.advance(90)
        assert still.pods()
        assert "conditions" not in still.get(REPLICA_SETS, "web")["status"]

    play(story)


def test_an_event_has_the_shape_of_the_controllers() -> None:
    async def story(still: Still) -> None:
        made = await still.make(REPLICA_SETS, "web", replicas=1, **selecting("web"))
        await still.background.advance(60)
        event = still.events("SuccessfulCreate")[0]
        (moment,) = {event["firstTimestamp"], event["lastTimestamp"]}
        assert moment == made["metadata"]["creationTimestamp"]
        assert event["source"] == {"component": "replicaset-controller"}
        assert event["reportingComponent"] == "replicaset-controller"
        assert (event["count"], event["eventTime"], event["type"]) == (1, None, "Normal")
        assert event["involvedObject"]["uid"] == made["metadata"]["uid"]
        assert event["involvedObject"]["apiVersion"] == "apps/v1"
        assert event["metadata"]["name"].startswith("web.")
        # A loop shows as a few Events and one that stands for all others.
        events = still.events("SuccessfulCreate")
        assert len(events) == 10
        combined = [one for one in events if one["message"].startswith("(combined from similar")]
        assert [one["count"] > 10 for one in combined] == [True]

    play(story)


def test_what_is_missed_least_goes_first() -> None:
    def seen(
        name: str, phase: str, node: str, ready: str = "", cost: str = ""
    ) -> dict[str, object]:
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}]
        return {
            "metadata": {
                "name": name,
                "creationTimestamp": "2027-01-15T08:00:00Z",
                "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost},
            },
            "spec": {"nodeName": node},
            "status": {"phase": phase, "conditions": conditions if ready else []},
        }

    ordered = [
        seen("unassigned", "Pending", ""),
        seen("pending", "Pending", "n"),
        seen("not ready", "Running", "n"),
        seen("cheap", "Running", "n", "2027-01-15T08:01:00Z", "-1"),
        seen("new", "Running", "n", "2027-01-15T08:03:00Z"),
        seen("old", "Running", "n", "2027-01-15T08:02:00Z"),
    ]
    gone = plan(0, ordered[::-1]).delete
    assert [dig(pod, "metadata", "name") for pod in gone] == [
        dig(pod, "metadata", "name") for pod in ordered
    ]
    assert plan(9, ordered).create == 3
    assert plan(10_000, []).create == 500
