"""Jobs: what a podFailurePolicy makes of failures, what is refused, and how long Jobs stay."""

from __future__ import annotations

import pytest
from controllers_support import MESSAGE, Object, Still, play, template

from simulator.controllers import job_failure_policy, job_pods
from simulator.resources import JOBS, PODS
from simulator.rules.jobs import check as check_job


def work(**spec: object) -> Object:
    return {"template": NEVER, **spec}


def finish(still: Still) -> None:
    """Let all running pods end well."""
    for pod in still.pods("Running"):
        status = {**pod["status"], "phase": "Succeeded"}
        still.store.update(PODS, "default", pod["metadata"]["name"], {**pod, "status": status})


def exited(code: int, **more: object) -> Object:
    terminated = {"state": {"terminated": {"exitCode": code}}}
    return {
        "metadata": {"namespace": "default", "name": "p"},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "app", **terminated}], **more},
    }


REJECTED = {
    "metadata": {"namespace": "default", "name": "p"},
    "status": {"phase": "Failed", "reason": "TopologyAffinityError", "message": MESSAGE},
}
DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]


def codes(operator: str, *values: int, action: str = "FailJob", **more: object) -> Object:
    return {
        "action": action,
        "onExitCodes": {"operator": operator, "values": list(values), **more},
    }


def condition(type_: str, action: str = "Ignore") -> Object:
    return {"action": action, "onPodConditions": [{"type": type_, "status": "True"}]}


EXITED = "Container app for pod default/p failed with exit code 42"

# Rules, the failed pod, and what matches: action and message.
POLICIES: dict[str, tuple[list[Object], Object, tuple[str, str] | None]] = {
    "no rules": ([], exited(1), None),
    "a code that is in": (
        [codes("In", 3, 42)],
        exited(42),
        ("FailJob", f"{EXITED} matching FailJob rule at index 0"),
    ),
    "a code that is not in": ([codes("In", 3)], exited(42), None),
    "a code other than": (
        [codes("In", 3), codes("NotIn", 3, action="Count")],
        exited(42),
        ("Count", f"{EXITED} matching Count rule at index 1"),
    ),
    "success is no failure": ([codes("NotIn", 3)], exited(0), None),
    "another container": ([codes("In", 42, containerName="other")], exited(42), None),
    "a condition": (
        [condition("DisruptionTarget")],
        exited(143, conditions=DISRUPTED),
        (
            "Ignore",
            "Pod default/p has condition DisruptionTarget matching Ignore rule at index 0",
        ),
    ),
    "a condition that is not there": ([condition("DisruptionTarget")], exited(143), None),
    "a rejected pod has neither": (
        [codes("NotIn", 0), condition("DisruptionTarget")],
        REJECTED,
        None,
    ),
}


@pytest.mark.parametrize(("rules", "failed", "want"), POLICIES.values(), ids=POLICIES)
def test_which_rule_matches(
    rules: list[Object], failed: Object, want: tuple[str, str] | None
) -> None:
    job = {"spec": {"podFailurePolicy": {"rules": rules}}}
    assert job_failure_policy.match(job, failed) == want


def test_a_rule_may_end_the_whole_job() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        policy = {"rules": [codes("In", 42)]}
        await still.make(JOBS, "train", **work(parallelism=2, podFailurePolicy=policy))
        await still.background.advance(2)
        assert still.get(JOBS, "train")["spec"]["podReplacementPolicy"] == "Failed"
        first = still.pods("Running")[0]
        name, status = first["metadata"]["name"], exited(42)["status"]
        still.store.update(PODS, "default", name, {**first, "status": status})
        await still.background.advance(5)
        text = (
            f"Container app for pod default/{name} failed with exit code 42"
            " matching FailJob rule at index 0"
        )
        found = still.get(JOBS, "train")["status"]["conditions"]
        assert [(one["type"], one["reason"], one["message"]) for one in found] == [
            ("FailureTarget", "PodFailurePolicy", text),
            ("Failed", "PodFailurePolicy", text),
        ]
        assert still.pods("Running") == []
        (event,) = still.events("PodFailurePolicy")
        assert (event["type"], event["message"]) == ("Warning", text)

    play(story)


def test_a_patient_job_makes_a_pod_again_when_the_deleted_one_has_ended() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work(podReplacementPolicy="Failed"))
        await still.background.advance(2)
        (first,) = still.pods("Running")
        name = first["metadata"]["name"]
        still.store.delete(PODS, "default", name)
        await still.background.advance(30)
        assert [pod["metadata"]["name"] for pod in still.pods()] == [name]
        going = still.store.get(PODS, "default", name).object
        status = {**going["status"], "phase": "Failed"}
        still.store.update(PODS, "default", name, {**going, "status": status})
        await still.background.advance(30)
        assert [pod["metadata"]["name"] == name for pod in still.pods()] == [False]

    play(story)


def test_ignored_failures_make_the_next_pod_wait_and_count_for_nothing() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        policy = {"rules": [condition("DisruptionTarget")]}
        await still.make(JOBS, "train", **work(backoffLimit=0, podFailurePolicy=policy))
        await still.background.advance(2)
        (first,) = still.pods("Running")
        status = exited(143, conditions=DISRUPTED)["status"]
        still.store.update(PODS, "default", first["metadata"]["name"], {**first, "status": status})
        await still.background.advance(5)
        assert still.pods("Running") == []
        await still.background.advance(10)
        assert len(still.pods("Running")) == 1
        assert "failed" not in still.get(JOBS, "train")["status"]
        assert not any(job_pods.is_tracked(pod) for pod in still.pods("Failed"))

    play(story)


def test_a_job_that_is_over_is_deleted_with_its_pods_when_its_time_has_come() -> None:
    async def story(still: Still) -> None:
        still.kubelets.admits = lambda _: True
        await still.make(JOBS, "train", **work(ttlSecondsAfterFinished=100))
        await still.make(JOBS, "stays", **work())
        await still.background.advance(2)
        finish(still)
        await still.background.advance(98)
        assert len(still.pods()) == 2
        await still.background.advance(10)
        assert [one.key[1] for one in still.store.table(JOBS).records("default")] == ["stays"]
        assert len(still.pods()) == 1

    play(story)


def test_while_new_pods_wait_the_status_tells_of_none_at_work() -> None:
    """As Kubernetes' own: manageJob answers 0 then, whoever runs."""

    async def story(still: Still) -> None:
        still.kubelets.admits = lambda pod: job_pods.index_of(pod) != 1
        indexed = work(parallelism=2, completions=2, completionMode="Indexed")
        await still.make(JOBS, "train", **indexed)
        await still.background.advance(5)
        status = still.get(JOBS, "train")["status"]
        assert len(still.pods("Running")) == 1
        assert ("active" in status, status["ready"], status["failed"]) == (False, 1, 1)

    play(story)


NEVER, ALWAYS = (template("train", restartPolicy=word) for word in ("Never", "Always"))
RULE = "spec.podFailurePolicy.rules[0]"
# Parts of the spec, and where the faults are.
FAULTS: dict[str, tuple[Object, list[str]]] = {
    "nothing": ({}, []),
    "pods that never end": ({"template": ALWAYS}, ["spec.template.spec.restartPolicy"]),
    "a negative limit": ({"backoffLimit": -1}, ["spec.backoffLimit"]),
    "indexes without an end": (
        {"completionMode": "Indexed", "parallelism": 2},
        ["spec.completions"],
    ),
    "a policy for pods that restart": (
        {
            "template": template("train", restartPolicy="OnFailure"),
            "podFailurePolicy": {"rules": [codes("In", 1)]},
        },
        ["spec.template.spec.restartPolicy"],
    ),
    "a policy for pods that never end": (
        {"template": ALWAYS, "podFailurePolicy": {"rules": [codes("In", 1)]}},
        ["spec.template.spec.restartPolicy"] * 2,
    ),
    "a rule that does nothing anybody knows": (
        {"podFailurePolicy": {"rules": [codes("In", 1, action="Weep")]}},
        [f"{RULE}.action"],
    ),
    "a rule without action, of both kinds": (
        {"podFailurePolicy": {"rules": [{**codes("In", 1), **condition("A"), "action": None}]}},
        [f"{RULE}.action", RULE],
    ),
    "a rule of no kind": ({"podFailurePolicy": {"rules": [{"action": "Ignore"}]}}, [RULE]),
    "codes without values, another operator": (
        {"podFailurePolicy": {"rules": [codes("Like")]}},
        [f"{RULE}.onExitCodes.operator", f"{RULE}.onExitCodes.values"],
    ),
}


@pytest.mark.parametrize(("spec", "places"), FAULTS.values(), ids=FAULTS)
def test_what_a_job_may_not_be(spec: Object, places: list[str]) -> None:
    job = {"spec": {"template": NEVER, **spec}}
    assert [cause.field for cause in check_job(job)] == places
