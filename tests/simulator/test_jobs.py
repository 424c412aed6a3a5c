"""Jobs: the death of one as measured, and how others live: completions, indexes, suspension."""

from __future__ import annotations

import pytest
from controllers_support import Object, Still, play, template

from simulator.controllers import job_pods
from simulator.resources import JOBS, PODS
from simulator.store.deletion import Options


def work(**spec: object) -> Object:
    return {"template": template("train", restartPolicy="Never"), **spec}


def conditions(still: Still) -> list[tuple[str, str, str]]:
    found = still.get(JOBS, "train")["status"].get("conditions", ())
    return [(one["type"], one["status"], one["reason"]) for one in found]


def finish(still: Still, phase: str = "Succeeded") -> None:
    """Let all running pods end."""
    for pod in still.pods("Running"):
        status = {**pod["status"], "phase": phase}
        still.store.update(PODS, "default", pod["metadata"]["name"], {**pod, "status": status})


def test_a_job_dies_after_seven_pods_and_ten_minutes() -> None:
    async def story(still: Still) -> None:
        await still.make(JOBS, "train", **work())
        start = still.store.clock.now()
        await still.background.advance(5)
        assert conditions(still) == []
        await still.background.advance(1000)
        assert still.gaps() == pytest.approx([10, 20, 40, 80, 160, 320], rel=0.15)
        assert still.kubelets.rejections[-1] - start == pytest.approx(630, rel=0.15)
        assert conditions(still) == [
            ("FailureTarget", "True", "BackoffLimitExceeded"),
            ("Failed", "True", "BackoffLimitExceeded"),
        ]
        status = still.get(JOBS, "train")["status"]
        assert (status["failed"], status["ready"], status["terminating"]) == (7, 0, 0)
        assert status["uncountedTerminatedPods"] == {}
        assert "active" not in status
        failed = still.pods("Failed")
        assert len(failed) == 7, "failed pods stay"
        assert not any(job_pods.is_tracked(pod) for pod in failed)
        (event,) = still.events("BackoffLimitExceeded")
        assert (event["type"], event["message"]) == (
            "Warning",
            "Job has reached the specified backoff limit",
        )

    play(story)


def test_four_at_once_die_sooner() -> None:
    async def story(still: Still) -> None:
        await still.make(JOBS, "train", **work(parallelism=4, completions=4))
        await still.background.advance(95 * 1.15)
        assert still.get(JOBS, "train")["status"]["failed"] == 8
        assert conditions(still)[-1] == ("Failed", "True", "BackoffLimitExceeded")

    play(story)


def test_completions_are_counted_and_the_pods_let_go() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work(parallelism=2, completions=3))
        await still.background.advance(2)
        assert len(still.pods("Running")) == 2
        status = still.get(JOBS, "train")["status"]
        assert (status["active"], status["ready"]) == (2, 2)
        finish(still)
        await still.background.advance(2)
        assert len(still.pods("Running")) == 1, "only one is missing"
        finish(still)
        await still.background.advance(2)
        status = still.get(JOBS, "train")["status"]
        assert (status["succeeded"], "completionTime" in status) == (3, True)
        assert conditions(still) == [
            ("SuccessCriteriaMet", "True", "CompletionsReached"),
            ("Complete", "True", "CompletionsReached"),
        ]
        assert not any(job_pods.is_tracked(pod) for pod in still.pods())
        assert [event["message"] for event in still.events("Completed")] == ["Job completed"]

    play(story)


def test_each_index_is_worked_on_until_it_is_done() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda pod: job_pods.index_of(pod) != 1
        indexed = work(parallelism=3, completions=3, completionMode="Indexed")
        await still.make(JOBS, "train", **indexed)
        await still.background.advance(2)
        finish(still)
        await still.background.advance(20)
        status = still.get(JOBS, "train")["status"]
        assert (status["completedIndexes"], status["succeeded"]) == ("0,2", 2)
        still.kubelets.admits = lambda _: True
        await still.background.advance(40)
        (running,) = still.pods("Running")
        assert job_pods.index_of(running) == 1
        finish(still)
        await still.background.advance(2)
        assert still.get(JOBS, "train")["status"]["completedIndexes"] == "0-2"
        assert conditions(still)[-1][0] == "Complete"

    play(story)


def test_a_suspended_job_has_no_pods_and_no_failures_from_that() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work())
        await still.background.advance(2)
        await still.change(JOBS, "train", suspend=True)
        await still.background.advance(60)
        assert still.pods() == []
        status = still.get(JOBS, "train")["status"]
        assert ("startTime" in status, "failed" in status) == (False, False)
        assert conditions(still) == [("Suspended", "True", "JobSuspended")]
        await still.change(JOBS, "train", suspend=False)
        await still.background.advance(5)
        assert len(still.pods("Running")) == 1
        assert conditions(still) == [("Suspended", "False", "JobResumed")]
        assert [still.events(word)[0]["message"] for word in ("Suspended", "Resumed")] == [
            "Job suspended",
            "Job resumed",
        ]

    play(story)


def test_a_job_that_takes_too_long_loses_its_pods() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work(activeDeadlineSeconds=30))
        await still.background.advance(28)
        assert len(still.pods("Running")) == 1
        await still.background.advance(40)
        assert still.pods() == []
        assert conditions(still)[-1] == ("Failed", "True", "DeadlineExceeded")

    play(story)


def test_the_pods_of_a_deleted_job_are_not_held_for_ever() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work(parallelism=2, completions=2))
        await still.background.advance(2)
        still.store.delete(JOBS, "default", "train", Options(propagation="Background"))
        await still.background.advance(5)
        assert still.pods() == []

    play(story)


def test_a_job_that_is_made_anew_does_not_wait_for_the_failures_of_another() -> None:
    async def story(still: Still) -> None:
        await still.make(JOBS, "train", **work(parallelism=4))
        await still.background.advance(5)
        still.store.delete(JOBS, "default", "train", Options(propagation="Background"))
        await still.background.advance(5)
        await still.make(JOBS, "train", **work())
        await still.background.advance(5)
        assert len(still.pods("Failed")) == 1

    play(story)


def test_indexes_are_written_in_runs() -> None:
    assert job_pods.write_indexes([5, 0, 1, 2, 7, 8]) == "0-2,5,7-8"
    assert job_pods.read_indexes("0-2,5,7-8") == {0, 1, 2, 5, 7, 8}
    assert job_pods.free_indexes(6, {0, 2}, 3) == [1, 3, 4]


def test_a_pod_that_went_before_its_job_is_let_go_when_the_job_is_gone() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work())
        await still.background.advance(2)
        (pod,) = still.pods()
        still.store.delete(PODS, "default", pod["metadata"]["name"], Options(grace_s=0))
        still.store.delete(JOBS, "default", "train", Options(propagation="Background"))
        await still.background.advance(5)
        assert still.pods() == []

    play(story)
