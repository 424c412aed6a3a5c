"""Pods are found in whatever makes pods, as the API server would get them."""

from __future__ import annotations

from typing import Any

import pytest

from evencore.domain.defaulting import defaulted
from evencore.domain.lenient import read
from evencore.domain.manifests import FoundPod, Manifests, find_pods
from evencore.domain.objects import Source
from evencore.domain.views import PodView

Object = dict[str, Any]
SPEC = {"containers": [{"name": "app"}]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}, "name": "ignored"}, "spec": SPEC}


def find(*values: object, namespace: str = "") -> Manifests:
    return find_pods([(Source("web.yaml"), value) for value in values], namespace)


def made(kind: str, spec: object, **rest: Any) -> Object:  # noqa: ANN401  any field
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec} | rest


def only(found: Manifests) -> FoundPod:
    assert not found.problems
    (pod,) = found.pods
    return pod


SET = {"template": TEMPLATE}


@pytest.mark.parametrize(
    ("item", "path", "owner"),
    [
        (made("Pod", SPEC), "", None),
        (made("Deployment", SET), "spec.template", "ReplicaSet"),
        (made("StatefulSet", SET), "spec.template", "StatefulSet"),
        (made("DaemonSet", SET), "spec.template", "DaemonSet"),
        (made("ReplicaSet", SET), "spec.template", "ReplicaSet"),
        (made("ReplicationController", SET), "spec.template", "ReplicationController"),
        (made("Job", SET), "spec.template", "Job"),
        (
            made("CronJob", {"jobTemplate": {"spec": SET}}),
            "spec.jobTemplate.spec.template",
            "Job",
        ),
        (made("PodTemplate", None, template=TEMPLATE), "template", None),
        (made("Rollout", SET), "spec.template", "ReplicaSet"),
        # Kinds that nobody told us of are searched.
        (made("Service", SET, apiVersion="serving.knative.dev/v1"), "spec.template", "Service"),
        (
            made("PyTorchJob", {"pytorchReplicaSpecs": {"Worker": {"template": TEMPLATE}}}),
            "spec.pytorchReplicaSpecs.Worker.template",
            "PyTorchJob",
        ),
        (
            made("RayCluster", {"workerGroupSpecs": [{"template": TEMPLATE}]}),
            "spec.workerGroupSpecs[0].template",
            "RayCluster",
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_every_kind_that_makes_pods(item: Object, path: str, owner: str | None) -> None:
    found = only(find(item))
    assert (found.place, found.path) == (f"{item['kind']} web", path)
    pod = read(PodView, found.pod)[0]
    assert (pod.controller.kind if pod.controller else None) == owner
    assert found.pod["spec"] == SPEC
    if owner:
        # All that a controller takes over of a template's metadata.
        assert found.pod["metadata"].keys() == {"generateName", "labels", "ownerReferences"}


def test_lists_are_opened_nested_and_typed_ones_too() -> None:
    bare = made("Deployment", SET)
    del bare["kind"]
    inner = {"kind": "DeploymentList", "items": [bare]}
    found = find({"kind": "List", "items": [made("Pod", SPEC), inner, made("Service", {})]})
    assert [pod.place for pod in found.pods] == ["Pod web", "Deployment web"]
    assert [one.kind for one in found.passed_over] == ["Service"]


def test_a_kind_with_several_templates_gives_several_pods() -> None:
    groups = [{"template": TEMPLATE}, {"template": TEMPLATE}]
    found = find(made("RayCluster", {"headGroupSpec": groups[0], "workerGroupSpecs": groups[1:]}))
    assert [pod.path for pod in found.pods] == [
        "spec.headGroupSpec.template",
        "spec.workerGroupSpecs[0].template",
    ]


def test_what_is_in_status_is_no_template() -> None:
    found = find(made("Thing", {}, status={"template": TEMPLATE}))
    assert [one.reason for one in found.passed_over] == ["has no pod template"]


def test_passed_over_with_the_reason() -> None:
    found = find(*(made(kind, {}) for kind in ("ConfigMap", "Namespace", "Node")))
    assert [(one.kind, one.name, one.reason) for one in found.passed_over] == [
        ("ConfigMap", "web", "has no pod template"),
        ("Namespace", "web", "makes no pods; what it says of its namespace was used"),
        ("Node", "web", "tells of the cluster: give it with --nodes"),
    ]


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (made("Deployment", {}), "Deployment web has no spec.template.spec.containers"),
        (made("Deployment", "x"), "Deployment web has no spec.template.spec.containers"),
        (made("Pod", {"containers": []}), "Pod web has no spec.containers"),
        (made("CronJob", None), "CronJob web has no spec.jobTemplate.spec.template.spec"),
        ({"spec": SET}, "an object without a kind is no manifest"),
        ("text", "'text' is no manifest"),
        ({"kind": "List", "items": [3]}, "3 is no manifest"),
    ],
)
def test_what_is_no_manifest_is_a_problem_with_its_place(value: object, want: str) -> None:
    found = find(value)
    assert not found.pods
    (problem,) = found.problems
    assert problem.startswith(f"web.yaml: {want}")


def test_a_manifest_that_names_its_namespace_goes_there() -> None:
    here = made("Deployment", SET, metadata={"name": "web", "namespace": "shop"})
    there = made("Deployment", SET)
    found = find(here, there, namespace="other")
    assert [pod.namespace for pod in found.pods] == ["shop", "other"]


def test_the_uid_of_an_owner_is_known_if_it_comes_from_a_cluster_and_owns_its_pods() -> None:
    uids = {}
    for kind in ("StatefulSet", "Deployment"):
        item = made(kind, SET, metadata={"name": "web", "uid": "u1"})
        owner = read(PodView, only(find(item)).pod)[0].controller
        uids[kind] = owner.uid if owner else None
    assert uids == {"StatefulSet": "u1", "Deployment": ""}


def test_a_pod_from_a_cluster_is_judged_as_if_it_were_created_anew() -> None:
    live = made(
        "Pod", SPEC | {"nodeName": "n1"}, status={"phase": "Failed"}, metadata={"uid": "u1"}
    )
    found = only(find(live))
    assert found.pod["spec"] == SPEC
    assert "status" not in found.pod
    assert found.notes == ("it ran on n1; judged as if it were created anew",)


def test_a_node_name_that_somebody_wrote_stays() -> None:
    assert only(find(made("Pod", SPEC | {"nodeName": "n1"}))).pod["spec"]["nodeName"] == "n1"


def limit_range(**item: object) -> Object:
    return made("LimitRange", {"limits": [{"type": "Container", **item}]})


@pytest.mark.parametrize(
    ("written", "ranges", "want"),
    [
        pytest.param(
            {"limits": {"cpu": "3"}},
            [],
            {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}},
            id="a missing request is the limit",
        ),
        pytest.param(
            {"requests": {"cpu": "3"}}, [], {"requests": {"cpu": "3"}}, id="a missing limit is none"
        ),
        pytest.param(
            None,
            [limit_range(default={"cpu": "3"}, defaultRequest={"cpu": "1"})],
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            id="a LimitRange fills both",
        ),
        pytest.param(
            None,
            [limit_range(default={"cpu": "3"})],
            {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}},
            id="its default is its default request",
        ),
        pytest.param(
            None,
            [limit_range(max={"cpu": "4"}, min={"cpu": "1"})],
            {"requests": {"cpu": "4"}, "limits": {"cpu": "4"}},
            id="its maximum is its default",
        ),
        pytest.param(
            None,
            [limit_range(min={"cpu": "1"})],
            {"requests": {"cpu": "1"}},
            id="its minimum is its default request",
        ),
        pytest.param(
            {"limits": {"cpu": "2"}},
            [limit_range(default={"cpu": "3", "memory": "1Gi"}, defaultRequest={"cpu": "1"})],
            {
                "requests": {"cpu": "2", "memory": "1Gi"},
                "limits": {"cpu": "2", "memory": "1Gi"},
            },
            id="what is written is kept, and a request is the limit before a LimitRange comes",
        ),
        pytest.param(
            None,
            [made("LimitRange", {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]})],
            None,
            id="one for pods fills in nothing",
        ),
        pytest.param("x", [limit_range(max={"cpu": "4"})], "x", id="what is odd is left"),
        pytest.param({"limits": 3}, [], {"limits": 3}, id="odd within"),
    ],
)
def test_resources_as_the_api_server_fills_them_in(
    written: object, ranges: list[Object], want: object
) -> None:
    container = {"name": "app"} | ({} if written is None else {"resources": written})
    pod = made("Pod", {"containers": [container], "initContainers": [container]})
    after = defaulted(pod, ranges)["spec"]
    assert after["containers"][0].get("resources") == want
    assert after["initContainers"][0].get("resources") == want
    assert pod["spec"]["containers"] == [container]  # the one that was given stays as it is
