"""Deployments: the loop leaves them untouched; updates, scaling, history, deadlines."""

from __future__ import annotations

import pytest
from controllers_support import Object, Still, play, selecting, template

from simulator.resources import DEPLOYMENTS, REPLICA_SETS


def conditions(still: Still) -> dict[str, tuple[str, str]]:
    found = still.get(DEPLOYMENTS, "web")["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in found}


def sizes(still: Still) -> list[int]:
    found = [record.object for record in still.store.table(REPLICA_SETS).records("default")]
    found.sort(key=lambda one: int(one["metadata"]["annotations"][REVISION]))
    return [one["spec"]["replicas"] for one in found]


REVISION = "deployment.kubernetes.io/revision"
NEW = template("web", terminationGracePeriodSeconds=7)


async def running(still: Still, **spec: object) -> None:
    still.kubelets.admits = lambda _: True
    await still.make(DEPLOYMENTS, "web", **{**selecting("web"), **spec})
    await still.background.advance(10)


@pytest.mark.parametrize(("replicas", "measured"), [(1, 590), (10, 1140)])
def test_a_loop_runs_at_full_pace_and_looks_like_progress(replicas: int, measured: int) -> None:
    async def story(still: Still) -> None:
        await still.make(DEPLOYMENTS, "web", replicas=replicas, **selecting("web"))
        assert await still.rejected_a_minute() == pytest.approx(measured, rel=0.15)
        assert conditions(still) == {
            "Available": ("False", "MinimumReplicasUnavailable"),
            "Progressing": ("True", "ReplicaSetUpdated"),
        }

    play(story)


def test_a_new_deployment_becomes_available() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=3)
        status = still.get(DEPLOYMENTS, "web")["status"]
        counts = {part: value for part, value in status.items() if part != "conditions"}
        assert counts == {
            "replicas": 3,
            "updatedReplicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "observedGeneration": 1,
            "terminatingReplicas": 0,
        }
        assert conditions(still) == {
            "Available": ("True", "MinimumReplicasAvailable"),
            "Progressing": ("True", "NewReplicaSetAvailable"),
        }
        (replica_set,) = still.store.table(REPLICA_SETS).records("default")
        name = replica_set.key[1]
        hash_ = replica_set.object["spec"]["selector"]["matchLabels"]["pod-template-hash"]
        assert name == f"web-{hash_}"
        assert still.get(DEPLOYMENTS, "web")["metadata"]["annotations"][REVISION] == "1"
        (event,) = still.events("ScalingReplicaSet")
        assert event["message"] == f"Scaled up replica set {name} from 0 to 3"
        assert event["source"] == {"component": "deployment-controller"}

    play(story)


def test_an_update_keeps_within_surge_and_unavailable() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=8)
        await still.change(DEPLOYMENTS, "web", template=NEW)
        seen: list[tuple[int, int]] = []
        for _ in range(1500):
            await still.background.advance(0.02)
            active = [pod for pod in still.pods() if "deletionTimestamp" not in pod["metadata"]]
            up = [pod for pod in active if pod["status"]["phase"] == "Running"]
            seen.append((len(active), len(up)))
        assert max(active for active, _ in seen) == 10
        assert min(up for _, up in seen) == 6
        assert seen[-1] == (8, 8)
        assert {pod["spec"]["terminationGracePeriodSeconds"] for pod in still.pods()} == {7}
        assert sizes(still) == [0, 8]
        assert conditions(still)["Progressing"] == ("True", "NewReplicaSetAvailable")
        assert still.get(DEPLOYMENTS, "web")["metadata"]["annotations"][REVISION] == "2"

    play(story)


def test_an_update_that_is_rejected_keeps_most_old_pods() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=4)
        still.kubelets.admits = lambda pod: pod["spec"]["terminationGracePeriodSeconds"] == 30
        await still.change(DEPLOYMENTS, "web", template=NEW)
        await still.background.advance(60)
        assert len(still.pods("Running")) == 3
        assert sizes(still) == [3, 2]
        await still.change(DEPLOYMENTS, "web", template=template("web"))
        await still.background.advance(20)
        assert sizes(still) == [0, 4], "going back is a new revision of the old ReplicaSet"
        assert conditions(still)["Available"][0] == "True"

    play(story)


def test_recreate_makes_new_pods_when_the_last_old_one_is_gone() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=3, strategy={"type": "Recreate"})
        await still.change(DEPLOYMENTS, "web", template=NEW)
        mixed = 0
        for _ in range(500):
            await still.background.advance(0.02)
            mixed += len({pod["spec"]["terminationGracePeriodSeconds"] for pod in still.pods()}) > 1
        assert mixed == 0
        assert sizes(still) == [0, 3]
        assert len(still.pods("Running")) == 3

    play(story)


def test_scaling_reaches_the_replica_set_at_once() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=2)
        for wanted in (5, 0, 1):
            await still.change(DEPLOYMENTS, "web", replicas=wanted)
            await still.background.advance(5)
            assert sizes(still) == [wanted]
            assert len(still.pods("Running")) == wanted
            assert still.get(DEPLOYMENTS, "web")["status"].get("availableReplicas", 0) == wanted

    play(story)


def test_a_rollout_in_the_middle_is_scaled_in_proportion() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=8)
        gated = template("web", schedulingGates=[{"name": "a/b"}])
        await still.change(DEPLOYMENTS, "web", template=gated)
        await still.background.advance(5)
        assert sizes(still) == [6, 4]
        await still.change(DEPLOYMENTS, "web", replicas=16)
        await still.background.advance(5)
        assert sizes(still) == [12, 8]

    play(story)


def test_a_paused_deployment_keeps_its_pods() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=2)
        await still.change(DEPLOYMENTS, "web", paused=True, template=NEW, replicas=3)
        await still.background.advance(10)
        assert sizes(still) == [3]
        await still.change(DEPLOYMENTS, "web", paused=False)
        await still.background.advance(10)
        assert sizes(still) == [0, 3]

    play(story)


def test_no_progress_for_too_long_is_told() -> None:
    async def story(still: Still) -> None:
        gated: Object = {"template": template("web", schedulingGates=[{"name": "a/b"}])}
        await running(still, replicas=1, progressDeadlineSeconds=60, **gated)
        await still.background.advance(40)
        assert conditions(still)["Progressing"][0] == "True"
        await still.background.advance(20)
        assert conditions(still)["Progressing"] == ("False", "ProgressDeadlineExceeded")

    play(story)


def test_old_replica_sets_beyond_the_history_are_deleted() -> None:
    async def story(still: Still) -> None:
        await running(still, replicas=1, revisionHistoryLimit=2)
        for grace in (1, 2, 3, 4):
            new = template("web", terminationGracePeriodSeconds=grace)
            await still.change(DEPLOYMENTS, "web", template=new)
            await still.background.advance(5)
        assert sizes(still) == [0, 0, 1]

    play(story)
