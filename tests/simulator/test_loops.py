"""The loops of rejected pods: as fast as measured, and what they leave behind for people to see."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rejection_loops import LOOPS, Loop, Run, figure, playing

from simulator.resources import DAEMON_SETS, DEPLOYMENTS, EVENTS, PODS, STATEFUL_SETS

TEXT = "Resources cannot be allocated with Topology locality"


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_loop_is_as_fast_as_the_real_one(loop: Loop) -> None:
    assert figure(loop) == pytest.approx(loop.measured, rel=0.15)


def said(run: Run, component: str, reason: str) -> list[dict[str, Any]]:
    """Give the Events of a component, the oldest first."""
    found = [one for one in run.all(EVENTS) if one["reason"] == reason]
    found = [one for one in found if one["reportingComponent"] == component]
    return sorted(found, key=lambda one: int(one["metadata"]["name"].rpartition(".")[2], 16))


def test_what_a_deployment_shows_of_its_loop() -> None:
    with playing(LOOPS["Deployment, 1 replica"]) as run:
        run.cluster.advance(60)
        (deployment,) = run.all(DEPLOYMENTS)
        set_name = said(run, "replicaset-controller", "SuccessfulCreate")[0]["involvedObject"][
            "name"
        ]
        shown = [
            (one["type"], one["status"], one["reason"], one["message"])
            for one in deployment["status"]["conditions"]
        ]
        minimum = "Deployment does not have minimum availability."
        assert shown == [
            ("Available", "False", "MinimumReplicasUnavailable", minimum),
            (
                "Progressing",
                "True",
                "ReplicaSetUpdated",
                f'ReplicaSet "{set_name}" is progressing.',
            ),
        ]
        told = [one["message"] for one in said(run, "replicaset-controller", "SuccessfulCreate")]
        created = rf"Created pod: {set_name}-[a-z0-9]{{5}}"
        assert all(re.fullmatch(created, one) for one in told[:9])
        (combined,) = told[9:]
        assert re.fullmatch(rf"\(combined from similar events\): {created}", combined)
        (scaled,) = said(run, "deployment-controller", "ScalingReplicaSet")
        assert scaled["message"] == f"Scaled up replica set {set_name} from 0 to 1"


def test_what_is_left_of_each_rejected_pod() -> None:
    with playing(LOOPS["Deployment, 10 replicas"]) as run:
        run.cluster.advance(30)
        failed = [one for one in run.all(PODS) if one["status"]["phase"] == "Failed"]
        assert len(failed) == len(run.rejections), "failed pods stay"
        for pod in failed:
            assert pod["status"] == {
                "message": f"Pod was rejected: {TEXT}",
                "observedGeneration": 1,
                "phase": "Failed",
                "qosClass": "Guaranteed",
                "reason": "TopologyAffinityError",
                "startTime": pod["status"]["startTime"],
            }
        events = said(run, "kubelet", "TopologyAffinityError")
        assert {one["involvedObject"]["uid"] for one in events} == {
            one["metadata"]["uid"] for one in failed
        }, "one Event for each pod, nothing is aggregated"
        nodes = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in failed}
        for event in events:
            about = event["involvedObject"]
            assert (event["type"], event["message"], event["count"]) == ("Warning", TEXT, 1)
            assert (event["firstTimestamp"], event["eventTime"]) == (event["lastTimestamp"], None)
            assert event["source"] == {"component": "kubelet", "host": nodes[about["name"]]}
            assert about["resourceVersion"]
        for event in said(run, "default-scheduler", "Scheduled"):
            assert event["eventTime"]
            assert event.get("count") is None


def test_a_stateful_set_keeps_one_failed_pod_and_its_name() -> None:
    with playing(LOOPS["StatefulSet, 3 replicas"]) as run:
        run.cluster.advance(20)
        assert {one["metadata"]["name"] for one in run.all(PODS)} <= {"x-0"}
        told = said(run, "statefulset-controller", "RecreatingFailedPod")[0]
        text = "StatefulSet default/x is recreating failed Pod x-0"
        assert (told["type"], told["message"]) == ("Warning", text)
        (owner,) = run.all(STATEFUL_SETS)
        assert owner["status"]["availableReplicas"] == 0


def test_a_daemon_set_tells_of_each_pod_that_it_kills() -> None:
    with playing(LOOPS["DaemonSet"]) as run:
        run.cluster.advance(20)
        assert {node for _, node in run.rejections} == {"autokh-1", "autokh-2"}
        for told in said(run, "daemonset-controller", "FailedDaemonPod"):
            about = told["involvedObject"]
            assert (told["type"], about["kind"], about["name"]) == ("Warning", "DaemonSet", "x")
            pattern = (
                r"(\(combined from similar events\): )?Found failed daemon pod"
                r" default/x-[a-z0-9]{5} on node autokh-[12], will try to kill it"
            )
            assert re.fullmatch(pattern, told["message"])
        (owner,) = run.all(DAEMON_SETS)
        assert owner["status"]["numberUnavailable"] == 2
