"""Who is changed and who is left alone (rules 1, 2, 3 and 5), as the answer shows it."""

from __future__ import annotations

from typing import Any

import pytest
from admission import Answer, admit
from apiserver import REQUIRED
from builders import (
    Pod,
    container,
    expression,
    failed,
    labels,
    limit_range,
    namespace,
    node,
    pod,
    review,
    snapshot,
)

from evencore.domain.policy import Policy

# Every pod here would be changed, and kept off two nodes, if there were no reason not to.
CLUSTER = (node("small").named().width(2).largest(2), node("n1").width(2), failed("n7"))
KNOWN = snapshot(*CLUSTER)


def odd() -> Pod:
    return pod().cpu("3").owner()


def test_the_pod_of_these_tests_is_changed_if_nothing_speaks_against_it() -> None:
    answer = admit(odd(), KNOWN)
    assert answer.cpu == {"app": ("4", "4")}
    assert answer.required is not None
    assert answer.labels == {"evencore.io/steering": "excluded"}


POD = {"group": "", "version": "v1", "kind": "Pod"}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"operation": "UPDATE"}, id="an update"),
        pytest.param({"operation": "DELETE"}, id="a deletion"),
        pytest.param({"operation": "CONNECT"}, id="a connection"),
        pytest.param({"operation": "create"}, id="an operation in small letters"),
        pytest.param({"subResource": "binding"}, id="a binding"),
        pytest.param({"subResource": "ephemeralcontainers"}, id="an ephemeral container"),
        pytest.param({"subResource": "resize"}, id="a resize"),
        pytest.param({"kind": {**POD, "kind": "PodTemplate"}}, id="another kind"),
        pytest.param({"kind": {**POD, "group": "example.com"}}, id="a Pod of another group"),
        pytest.param({"kind": {**POD, "version": "v2"}}, id="a Pod of another version"),
        pytest.param({"kind": None}, id="no kind"),
        pytest.param({"object": None}, id="no object"),
    ],
)
def test_only_the_creation_of_pods_is_changed(fields: dict[str, Any]) -> None:
    answer = admit(review(odd()).with_(**fields), KNOWN)
    assert answer.allowed
    assert answer.patch == []
    assert answer.warnings == []
    assert answer.outcome.result == "passed"


def test_an_empty_subresource_is_none() -> None:
    assert admit(review(odd()).with_(subResource=""), KNOWN).patch


def test_a_dry_run_gets_the_same_answer() -> None:
    assert admit(review(odd()).with_(dryRun=True), KNOWN).patch == admit(odd(), KNOWN).patch


WINDOWS = expression("kubernetes.io/os", "In", "windows")
EQUAL = {"cpu": "3", "memory": "1Gi"}
ALONE: dict[str, Pod] = {
    "Burstable": odd().containers(container().requests({"cpu": "1", "memory": "1Gi"})),
    "BestEffort": odd().containers(container(cpu=None, memory=None)),
    "pod-level resources": odd().spec(resources={"requests": EQUAL, "limits": EQUAL}),
    "Windows by spec.os": odd().spec(os={"name": "windows"}),
    "Windows by node selector": odd().spec(nodeSelector={"kubernetes.io/os": "windows"}),
    "Windows by the old label": odd().spec(nodeSelector={"beta.kubernetes.io/os": "windows"}),
    "Windows by affinity": odd().required(labels(WINDOWS)),
    "Windows by every term of the affinity": odd().required(
        labels(WINDOWS), labels(expression("zone", "Exists"), WINDOWS)
    ),
    "a mirror pod": odd().annotate("kubernetes.io/config.mirror", "abc"),
    "a pod that opts out by label": odd().label("evencore.io/admission", "disabled"),
    "keep for the pod": odd().annotate("evencore.io/cpu", "keep"),
    "keep for its only container": odd().annotate("evencore.io/cpu.app", "keep"),
    "a quantity that is none": odd().containers(container(cpu="3 cores")),
    "requests above limits whose sums are equal": odd().containers(
        container("a")
        .requests({"cpu": "1", "memory": "1Gi"})
        .limits({"cpu": "2", "memory": "1Gi"}),
        container("b")
        .requests({"cpu": "3", "memory": "1Gi"})
        .limits({"cpu": "2", "memory": "1Gi"}),
    ),
}


@pytest.mark.parametrize("built", ALONE.values(), ids=ALONE)
def test_left_alone(built: Pod) -> None:
    answer = admit(built, KNOWN)
    assert answer.allowed
    assert answer.patch == []
    assert answer.outcome.decision is not None
    assert answer.outcome.decision.left_alone


@pytest.mark.parametrize("name", ["kube-system", "evencore-system"])
def test_namespaces_that_never_take_part(name: str) -> None:
    assert admit(review(odd()).with_(namespace=name), KNOWN).patch == []


def test_which_namespaces_never_take_part_is_a_setting() -> None:
    policy = Policy.from_mapping({"ignoredNamespaces": ["apps"]})
    assert admit(odd(), KNOWN, policy).patch == []
    assert admit(review(odd()).with_(namespace="kube-system"), KNOWN, policy).patch


CHANGED: dict[str, Pod] = {
    "empty pod-level resources": odd().spec(resources={}),
    "Linux by spec.os": odd().spec(os={"name": "linux"}),
    "spec.os of no name": odd().spec(os={}),
    "Linux by spec.os, whatever the selector": odd().spec(
        os={"name": "linux"}, nodeSelector={"kubernetes.io/os": "windows"}
    ),
    "Windows in one term of two": odd().required(
        labels(WINDOWS), labels(expression("zone", "Exists"))
    ),
    "Windows as one of two systems": odd().required(
        labels(expression("kubernetes.io/os", "In", "windows", "linux"))
    ),
    "affinity without a term": odd().required(),
    "not Windows": odd().required(labels(expression("kubernetes.io/os", "NotIn", "windows"))),
    "a label that opts in": odd().label("evencore.io/admission", "enabled"),
    "an opt-out written as an annotation": odd().annotate("evencore.io/admission", "disabled"),
    "a name instead of a generated one": odd().metadata(name=None, generateName="web-"),
    "an overhead": odd().spec(overhead={"cpu": "250m"}, runtimeClassName="kata"),
    "a gate of somebody else": odd().spec(schedulingGates=[{"name": "example.com/wait"}]),
    "a pod that nobody owns": pod().cpu("3"),
    "a pod with a host network": odd().spec(hostNetwork=True),
    "volumes that are null": odd().spec(volumes=None),
}


@pytest.mark.parametrize("built", CHANGED.values(), ids=CHANGED)
def test_changed(built: Pod) -> None:
    assert admit(built, KNOWN).cpu == {"app": ("4", "4")}


def test_what_else_a_container_asks_for_stays() -> None:
    built = odd().containers(
        container(cpu="7", memory="4Gi")
        .also("hugepages-1Gi", "2Gi")
        .also("nvidia.com/gpu", "1")
        .also("ephemeral-storage", "1Gi")
    )
    answer = admit(built, KNOWN)
    for part in ("requests", "limits"):
        before = answer.before["spec"]["containers"][0]["resources"][part]
        after = answer.after["spec"]["containers"][0]["resources"][part]
        assert after == before | {"cpu": "8"}


@pytest.mark.parametrize(
    "built",
    [
        pytest.param(odd().spec(nodeName="n7"), id="a pod that is bound by its author"),
        pytest.param(pod().cpu("3").owner(kind="DaemonSet"), id="a pod of a DaemonSet"),
    ],
)
def test_aligned_but_not_steered(built: Pod) -> None:
    answer = admit(built, KNOWN)
    assert answer.cpu == {"app": ("4", "4")}
    assert answer.required is None
    assert answer.labels == {}


def test_whoever_binds_a_pod_is_told_that_excluding_nodes_is_in_vain() -> None:
    answer = admit(odd().spec(nodeName="n7"), KNOWN)
    assert "spec.nodeName is set: the exclusion of nodes has no effect" in answer.warnings


def test_an_empty_node_name_binds_nothing() -> None:
    assert admit(odd().spec(nodeName=""), KNOWN).required is not None


def _limited(maximum: str, kind: str = "Container") -> Answer:
    return admit(odd(), snapshot(*CLUSTER, limit_range("small").maximum(maximum, kind)))


def test_a_limit_range_that_is_too_low_keeps_the_request_and_tells_the_facts() -> None:
    answer = _limited("3")
    assert answer.cpu == {"app": ("3", "3")}
    assert answer.warnings[0] == (
        "container app: cpu 3 kept: 4 is above the maximum 3 of LimitRange small"
    )


def test_a_limit_range_for_pods_counts_too() -> None:
    answer = _limited("3", "Pod")
    assert answer.cpu == {"app": ("3", "3")}
    assert "4 for the pod is above the maximum 3 of LimitRange small" in answer.warnings[0]


@pytest.mark.parametrize("maximum", ["4", "5500m"])
def test_a_limit_range_that_is_high_enough_changes_nothing(maximum: str) -> None:
    assert _limited(maximum).cpu == {"app": ("4", "4")}


def test_a_limit_range_of_another_namespace_does_not_count() -> None:
    elsewhere = limit_range("small", "other").maximum("3")
    assert admit(odd(), snapshot(elsewhere)).cpu == {"app": ("4", "4")}


def test_annotations_of_the_namespace_count() -> None:
    known = snapshot(namespace("apps").annotate("evencore.io/cpu", "keep"))
    assert admit(odd(), known).patch == []


def test_annotations_of_another_namespace_do_not() -> None:
    known = snapshot(namespace("other").annotate("evencore.io/cpu", "keep"))
    assert admit(odd(), known).patch


def test_an_annotation_on_the_pod_goes_before_one_on_its_namespace() -> None:
    known = snapshot(namespace("apps").annotate("evencore.io/cpu", "keep"))
    assert admit(odd().annotate("evencore.io/cpu", "round-up"), known).patch


def test_a_wrong_annotation_is_passed_over_and_told() -> None:
    answer = admit(odd().annotate("evencore.io/cpu", "roundup"))
    assert answer.cpu == {"app": ("4", "4")}
    assert answer.warnings[0] == (
        "annotation evencore.io/cpu: 'roundup' is not round-up, warn, deny or keep; ignored"
    )


def test_deny_refuses_and_names_the_values_that_fit() -> None:
    answer = admit(odd().annotate("evencore.io/cpu", "deny"))
    assert not answer.allowed
    assert answer.message == (
        "evencore: container app: cpu 3 → 2 or 4: kubelets with full-pcpus-only refuse it "
        "(2 threads per core)"
    )
    assert answer.review["response"]["status"]["code"] == 403


def test_deny_lets_pass_what_is_whole_cores() -> None:
    assert admit(pod().annotate("evencore.io/cpu", "deny")).allowed


def test_warn_passes_the_pod_unchanged_with_a_warning() -> None:
    answer = admit(odd().annotate("evencore.io/cpu", "warn"))
    assert answer.patch == []
    assert answer.warnings == [
        (
            "container app: cpu 3 → 2 or 4: kubelets with full-pcpus-only refuse it "
            "(2 threads per core)"
        )
    ]


def test_what_warn_leaves_odd_is_not_kept_off_the_nodes_that_it_warns_of() -> None:
    known = snapshot(node("n1").width(2))
    assert admit(odd().annotate("evencore.io/cpu", "warn"), known).required is None


def test_round_from_leaves_small_containers_alone() -> None:
    policy = Policy.from_mapping({"roundFrom": "1"})
    built = pod().containers(container("app", cpu="1"), container("log", cpu="100m"))
    answer = admit(built, None, policy)
    assert answer.cpu == {"app": ("2", "2"), "log": ("100m", "100m")}


def test_the_cost_of_a_rounded_fraction_is_told() -> None:
    (warning,) = admit(pod().cpu("100m")).warnings
    assert warning == "container app: cpu 100m → 2, whole cores of 2 threads; 1900m more"


def test_required_is_not_touched_where_nothing_is_known() -> None:
    built = odd().required(labels(expression("zone", "In", "a")))
    answer = admit(built)
    assert answer.after["spec"]["affinity"]["nodeAffinity"][REQUIRED] == {
        "nodeSelectorTerms": [labels(expression("zone", "In", "a"))]
    }


def test_a_wrong_annotation_is_told_on_pods_that_are_not_guaranteed_too() -> None:
    burstable = pod().containers(container().limits(None)).annotate("evencore.io/cpu", "keepp")
    answer = admit(burstable)
    assert answer.patch == []
    (warning,) = answer.warnings
    assert warning.startswith("annotation evencore.io/cpu: 'keepp' is not round-up, warn, deny")
