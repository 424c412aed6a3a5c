"""StatefulSets: one failed pod at a time, made again under its name; order; updates."""

from __future__ import annotations

import pytest
from controllers_support import Still, play, selecting, template

from simulator.resources import STATEFUL_SETS


def named(still: Still) -> list[str]:
    return [pod["metadata"]["name"] for pod in still.pods()]


@pytest.mark.parametrize("replicas", [1, 3])
def test_pace_of_the_loop(replicas: int) -> None:
    async def story(still: Still) -> None:
        await still.make(STATEFUL_SETS, "db", replicas=replicas, **selecting("db"))
        assert await still.rejected_a_minute() == pytest.approx(292, rel=0.15)
        assert set(named(still)) <= {"db-0"}, "the others wait, and no failed pod stays"
        assert still.events("RecreatingFailedPod")[0]["message"] == (
            "StatefulSet default/db is recreating failed Pod db-0"
        )
        made = still.events("SuccessfulCreate")[0]["message"]
        assert made == "create Pod db-0 in StatefulSet db successful"

    play(story)


def test_pods_come_one_after_the_other_and_go_in_reverse() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda pod: pod["metadata"]["name"] != "db-2"
        await still.make(STATEFUL_SETS, "db", replicas=4, **selecting("db"))
        await still.background.advance(20)
        assert set(named(still)) - {"db-2"} == {"db-0", "db-1"}
        still.kubelets.admits = lambda _: True
        await still.background.advance(20)
        assert named(still) == ["db-0", "db-1", "db-2", "db-3"]
        created = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in still.pods()}
        await still.change(STATEFUL_SETS, "db", replicas=2)
        await still.background.advance(20)
        left = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in still.pods()}
        assert left == {name: created[name] for name in ("db-0", "db-1")}
        status = still.get(STATEFUL_SETS, "db")["status"]
        assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (
            2,
            2,
            2,
        )
        assert status["observedGeneration"] == 2

    play(story)


def test_parallel_pods_do_not_wait_for_each_other() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda pod: pod["metadata"]["name"] != "db-0"
        spec = {"podManagementPolicy": "Parallel", "ordinals": {"start": 0}}
        await still.make(STATEFUL_SETS, "db", replicas=3, **spec, **selecting("db"))
        await still.background.advance(20)
        assert {pod["metadata"]["name"] for pod in still.pods("Running")} == {"db-1", "db-2"}

    play(story)


def test_an_update_goes_from_the_last_pod_down_to_the_partition() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(STATEFUL_SETS, "db", replicas=3, **selecting("db"))
        await still.background.advance(20)
        old = still.get(STATEFUL_SETS, "db")["status"]["currentRevision"]
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        new = template("db", terminationGracePeriodSeconds=7)
        await still.change(STATEFUL_SETS, "db", template=new, updateStrategy=rolling)
        await still.background.advance(20)

        def graces() -> list[int]:
            return [pod["spec"]["terminationGracePeriodSeconds"] for pod in still.pods()]

        status = still.get(STATEFUL_SETS, "db")["status"]
        assert graces() == [30, 7, 7]
        assert (status["currentRevision"], status["updatedReplicas"]) == (old, 2)
        whole = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
        await still.change(STATEFUL_SETS, "db", updateStrategy=whole)
        await still.background.advance(20)
        status = still.get(STATEFUL_SETS, "db")["status"]
        assert graces() == [7, 7, 7]
        assert status["currentRevision"] == status["updateRevision"] != old

    play(story)
