"""kubectl and the workload controllers, with scheduler and kubelets, on a real clock."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from simulator_kubectl import Kubectl

from simulator.cluster import Cluster
from simulator.kubelet.lives import EXIT_CODE, RUN_SECONDS
from simulator.kubelet.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    with Cluster(PRESETS["autokh"]) as running:
        yield Kubectl(running.server, tmp_path)


def test_a_rollout_is_followed_scaled_updated_and_undone_by_name(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=2")
    done = 'deployment "web" successfully rolled out'
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("set", "image", "deployment/web", "web=registry.example/web:2")
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    assert "3/3" in kubectl("get", "deployment", "web")
    images = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}")
    assert images.split().count("registry.example/web:2") == 3
    kubectl("rollout", "undo", "deployment/web")
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    history = kubectl("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]
    assert "ScalingReplicaSet" in kubectl("describe", "deployment", "web")


def job(restart: str, **spec: object) -> str:
    containers = [{"name": "c", "image": "registry.example/c:1"}]
    annotations = {RUN_SECONDS: "1", EXIT_CODE: "42"}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"containers": containers, "restartPolicy": restart},
    }
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}}
    return json.dumps({**manifest, "spec": {"template": template, **spec}})


def test_a_job_ends_by_its_policy_is_described_and_goes(kubectl: Kubectl) -> None:
    refused = kubectl("apply", "-f", "-", stdin=job("Always"), fails=True)
    assert refused == (
        'The Job "train" is invalid: spec.template.spec.restartPolicy: '
        'Required value: valid values: "OnFailure", "Never"\n'
    )
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    whole = job("Never", podFailurePolicy={"rules": [rule]}, ttlSecondsAfterFinished=2)
    kubectl("apply", "-f", "-", stdin=whole)
    kubectl("wait", "--for=condition=failed", "job/train", "--timeout=50s")
    described = kubectl("describe", "job", "train")
    assert "0 Succeeded / 1 Failed" in described
    assert "failed with exit code 42 matching FailJob rule at index 0" in described
    kubectl("wait", "--for=delete", "job/train", "--timeout=50s")
    assert kubectl("get", "pods", "-o", "name") == ""


def test_a_drained_node_is_empty_until_it_is_uncordoned(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=4")
    kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    drained = kubectl("drain", "autokh-1", "--timeout=50s")
    assert drained.startswith("node/autokh-1 cordoned\n")
    assert drained.endswith("node/autokh-1 drained\n")
    assert " evicted\n" in drained
    kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    nodes = "jsonpath={.items[*].spec.nodeName}"
    assert kubectl("get", "pods", "-o", nodes).split() == ["autokh-2"] * 4
    kubectl("uncordon", "autokh-1")
    kubectl("scale", "deployment/web", "--replicas=6")
    kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    assert kubectl("get", "pods", "-o", nodes).split().count("autokh-1") > 0


def test_a_crash_loop_is_seen_and_described(kubectl: Kubectl) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": {RUN_SECONDS: "1", EXIT_CODE: "3"}},
        "spec": {"containers": [{"name": "app", "image": "registry.example/app:1"}]},
    }
    kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    reason = "jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff"
    kubectl("wait", f"--for={reason}", "pod/p", "--timeout=50s")
    assert kubectl("get", "pod", "p", "--no-headers").split()[1:4] == [
        "0/1",
        "CrashLoopBackOff",
        "1",
    ]
    described = kubectl("describe", "pod", "p")
    assert "Back-off restarting failed container app in pod p_default(" in described
    assert "(x2 over" in described
    assert "Container started" in described
