"""Defaults, quantities and first status, held against what a real API server sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from captured import as_written, request
from simulator_support import PODS as PATH
from simulator_support import Wire, pod

from simulator.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    LIMIT_RANGES,
    PODS,
    SECRETS,
    STATEFUL_SETS,
)
from simulator.rules import new_pods
from simulator.rules.amounts import canonical
from simulator.rules.defaults import defaulted

if TYPE_CHECKING:
    from simulator.objects import Object

BARE = [
    "01-create-bare-odd",
    "04-create-gen-fraction",
    "07-create-burstable",
    "08-create-besteffort",
    "10-create-affinity-or",
    "11-create-nodename",
    "12-create-gated-elsewhere",
    "13-create-windows",
    "15-create-spelled",
    "18-create-agent",
]


def captured(name: str) -> Object:
    found: Object = request(name)["object"]
    del found["metadata"]["managedFields"]
    return found


def comparable(seen: Object) -> Object:
    """Give a pod with the token volume's random name, its sources and the metadata left out."""
    spec: Object = json.loads(json.dumps(seen["spec"]))
    for volume in spec.get("volumes") or ():
        volume.pop("projected")
        volume["name"] = "token"
    for container in [*spec["containers"], *spec.get("initContainers", ())]:
        for mount in container["volumeMounts"]:
            mount["name"] = "token"
    return spec


@pytest.mark.parametrize("name", BARE)
def test_a_pod_becomes_what_a_real_api_server_made_of_it(api: Wire, name: str) -> None:
    want = captured(name)
    api.post("/api/v1/namespaces", {"metadata": {"name": "capture"}})
    sent = as_written(want)
    # Their owners are not there: the collector would be right to take them at once.
    sent["metadata"].pop("ownerReferences", None)
    made = api.post("/api/v1/namespaces/capture/pods", sent)
    assert comparable(made) == comparable(want)


QUANTITIES = {
    "1000m": "1",
    "0.5": "500m",
    "1024Mi": "1Gi",
    "1.5Gi": "1536Mi",
    "2500m": "2500m",
    "4e0": "4",
    "1e3": "1e3",
    "0": "0",
    "0Mi": "0",
    "1000": "1k",
    "100k": "100k",
    "1500000": "1500k",
    "+3": "3",
    "0.1Mi": "104857600m",
}


@pytest.mark.parametrize(("given", "want"), QUANTITIES.items())
def test_quantities_are_stored_in_one_spelling(given: str, want: str) -> None:
    assert canonical(given) == want


def test_a_new_pod_is_pending_and_a_gated_one_says_why() -> None:
    plain = new_pods.with_status({**pod(), "status": {"phase": "Running"}})
    assert plain["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    gated = new_pods.with_status(pod("p", schedulingGates=[{"name": "a/b"}]))
    (condition,) = gated["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")


PULLS = {"app": "Always", "app:latest": "Always", "app:1": "IfNotPresent", "h:5000/app": "Always"}


@pytest.mark.parametrize(("image", "want"), PULLS.items())
def test_what_may_change_under_its_name_is_pulled_always(image: str, want: str) -> None:
    given = {"spec": {"containers": [{"name": "a", "image": image}]}}
    assert defaulted(PODS, given)["spec"]["containers"][0]["imagePullPolicy"] == want


def workload(**spec: Any) -> Object:  # noqa: ANN401  any JSON value
    return {"metadata": {"name": "w"}, "spec": {"template": {"spec": {"containers": []}}, **spec}}


def test_workloads_get_their_defaults_and_keep_what_they_say() -> None:
    deployment = defaulted(DEPLOYMENTS, workload())["spec"]
    rolling = {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert deployment["strategy"] == {"type": "RollingUpdate", "rollingUpdate": rolling}
    assert (deployment["replicas"], deployment["progressDeadlineSeconds"]) == (1, 600)
    assert "enableServiceLinks" not in deployment["template"]["spec"]
    recreated = defaulted(DEPLOYMENTS, workload(strategy={"type": "Recreate"}, replicas=0))["spec"]
    assert (recreated["strategy"], recreated["replicas"]) == ({"type": "Recreate"}, 0)
    assert defaulted(JOBS, workload())["spec"]["completions"] == 1
    assert "completions" not in defaulted(JOBS, workload(parallelism=3))["spec"]
    assert defaulted(STATEFUL_SETS, workload())["spec"]["updateStrategy"]["rollingUpdate"] == {
        "partition": 0
    }
    assert defaulted(DAEMON_SETS, workload())["spec"]["revisionHistoryLimit"] == 10


def test_a_limit_range_falls_back_as_documented() -> None:
    item = {"type": "Container", "max": {"cpu": "4"}, "min": {"memory": "1024Mi"}}
    limits = defaulted(LIMIT_RANGES, {"spec": {"limits": [item]}})["spec"]["limits"][0]
    assert limits["default"] == {"cpu": "4"}
    assert limits["defaultRequest"] == {"cpu": "4", "memory": "1Gi"}


def test_what_a_secret_says_in_plain_is_kept_encoded() -> None:
    secret = defaulted(SECRETS, {"data": {"a": "MQ=="}, "stringData": {"b": "2"}})
    assert secret == {"type": "Opaque", "data": {"a": "MQ==", "b": "Mg=="}}


def test_a_job_knows_its_pods_by_its_uid(api: Wire) -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "i"}], "restartPolicy": "Never"}}
    job = {"metadata": {"name": "j"}, "spec": {"template": template}}
    made = api.post("/apis/batch/v1/namespaces/default/jobs", job)
    uid = made["metadata"]["uid"]
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert made["spec"]["selector"] == selector
    assert made["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"


def test_limit_ranges_give_defaults_and_refuse_what_is_out_of_bounds(api: Wire) -> None:
    item = {
        "type": "Container",
        "default": {"cpu": "1500m", "memory": "512Mi"},
        "max": {"cpu": "4"},
    }
    path = "/api/v1/namespaces/default/limitranges"
    api.post(path, {"metadata": {"name": "l"}, "spec": {"limits": [item]}})
    made = api.post(PATH, pod())
    amounts = {"cpu": "1500m", "memory": "512Mi"}
    assert made["spec"]["containers"][0]["resources"] == {"limits": amounts, "requests": amounts}
    assert made["status"]["qosClass"] == "Guaranteed"
    large = pod("large")
    large["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "5"}}
    status, body = api.ask("POST", PATH, large)
    assert (status, body["reason"]) == (403, "Forbidden")
    assert "maximum cpu usage per Container is 4, but limit is 5" in body["message"]


def test_a_priority_class_gives_its_number_and_one_that_is_not_there_is_refused(api: Wire) -> None:
    made = api.post(PATH, pod("p", priorityClassName="system-node-critical"))
    assert made["spec"]["priority"] == 2_000_001_000
    status, body = api.ask("POST", PATH, pod("q", priorityClassName="nope"))
    assert (status, "no PriorityClass with name nope" in body["message"]) == (403, True)


def test_a_resize_changes_resources_only_and_not_the_class(api: Wire) -> None:
    given = pod()
    given["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    api.post(PATH, given)
    both = {"name": "app", "image": "other", "resources": {"requests": {"cpu": "2"}}}
    status, made = api.ask(
        "PUT", f"{PATH}/p/resize", {"metadata": {}, "spec": {"containers": [both]}}
    )
    container = made["spec"]["containers"][0]
    assert (status, container["resources"]) == (200, {"requests": {"cpu": "2"}})
    assert container["image"] == "registry.example/app:1"
    best = {"metadata": {}, "spec": {"containers": [{"name": "app", "resources": {}}]}}
    assert api.ask("PUT", f"{PATH}/p/resize", best)[0] == 422
