"""The JSON Patch: against the shape of what was sent, and nothing that was not decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from admission import admit
from apiserver import PREFERRED, REQUIRED
from builders import Pod, container, expression, failed, fields, labels, node, pod, snapshot

SMALL = snapshot(node("n1").named().width(2).largest(4))
REJECTED = snapshot(failed("n7"))
RULE = expression("evencore.io/max-container-cpus", "NotIn", "4")
NOT_N7 = expression("metadata.name", "NotIn", "n7")
IN_A = expression("zone", "In", "a")


def operations(built: Pod, prefix: str, known: Any = SMALL) -> list[tuple[str, str, Any]]:  # noqa: ANN401  a snapshot
    patch = admit(built, known).patch
    return [
        (op["op"], op["path"].removeprefix(prefix), op["value"])
        for op in patch
        if op["path"].startswith(prefix)
    ]


CPU = {
    "both are replaced": (
        container(cpu="3"),
        [("replace", "/requests/cpu", "4"), ("replace", "/limits/cpu", "4")],
    ),
    "a missing map of requests is added": (
        container(cpu="3").without_requests(),
        [("add", "/requests", {"cpu": "4"}), ("replace", "/limits/cpu", "4")],
    ),
    "one that is null, too": (
        container(cpu="3").requests(None),
        [("add", "/requests", {"cpu": "4"}), ("replace", "/limits/cpu", "4")],
    ),
    "a missing entry is added, for the map may hold others": (
        container(cpu="3").requests({"memory": "1Gi"}),
        [("add", "/requests/cpu", "4"), ("replace", "/limits/cpu", "4")],
    ),
    "an empty map gets its entry": (
        container(cpu="3").requests({}),
        [("add", "/requests/cpu", "4"), ("replace", "/limits/cpu", "4")],
    ),
}


@pytest.mark.parametrize(("built", "want"), CPU.values(), ids=CPU)
def test_cpu(built: Any, want: list[tuple[str, str, Any]]) -> None:  # noqa: ANN401  a builder
    prefix = "/spec/containers/0/resources"
    assert operations(pod().containers(built), prefix) == want


def test_init_containers_have_their_own_list() -> None:
    built = pod().inits(container("a"), container("b", cpu="1").sidecar())
    prefix = "/spec/initContainers/1/resources"
    assert [path for _, path, _ in operations(built, prefix)] == ["/requests/cpu", "/limits/cpu"]


TERM = {"matchExpressions": [RULE]}
MADE = {"nodeSelectorTerms": [TERM]}
AFFINITY: dict[str, tuple[Pod, list[tuple[str, str, Any]]]] = {
    "no affinity": (pod(), [("add", "", {"nodeAffinity": {REQUIRED: MADE}})]),
    "null": (pod().spec(affinity=None), [("add", "", {"nodeAffinity": {REQUIRED: MADE}})]),
    "empty": (pod().spec(affinity={}), [("add", "/nodeAffinity", {REQUIRED: MADE})]),
    "other affinity only": (
        pod().spec(affinity={"podAffinity": {}}),
        [("add", "/nodeAffinity", {REQUIRED: MADE})],
    ),
    "null within": (
        pod().spec(affinity={"nodeAffinity": None}),
        [("add", "/nodeAffinity", {REQUIRED: MADE})],
    ),
    "empty within": (
        pod().spec(affinity={"nodeAffinity": {}}),
        [("add", f"/nodeAffinity/{REQUIRED}", MADE)],
    ),
    "preferred only": (
        pod().preferred(labels(IN_A)),
        [("add", f"/nodeAffinity/{REQUIRED}", MADE)],
    ),
    "required that is null": (
        pod().spec(affinity={"nodeAffinity": {REQUIRED: None}}),
        [("add", f"/nodeAffinity/{REQUIRED}", MADE)],
    ),
    "a term": (
        pod().required(labels(IN_A)),
        [("add", "/0/matchExpressions/-", RULE)],
    ),
    "two terms": (
        pod().required(labels(IN_A), labels(expression("disk", "Exists"))),
        [("add", "/0/matchExpressions/-", RULE), ("add", "/1/matchExpressions/-", RULE)],
    ),
    "a term on fields": (
        pod().required(fields(expression("metadata.name", "In", "n1"))),
        [("add", "/0/matchExpressions", [RULE])],
    ),
    "a term whose expressions are null": (
        pod().required(
            {"matchExpressions": None, **fields(expression("metadata.name", "In", "n1"))}
        ),
        [("add", "/0/matchExpressions", [RULE])],
    ),
    "a term whose expressions are empty": (
        pod().required({"matchExpressions": [], **fields(expression("metadata.name", "In", "n1"))}),
        [("add", "/0/matchExpressions/-", RULE)],
    ),
    "an empty term beside another": (
        pod().required({}, labels(IN_A)),
        [("add", "/1/matchExpressions/-", RULE)],
    ),
    "only an empty term": (pod().required({}), []),
    "no terms": (pod().required(), []),
    "the rule is there": (pod().required(labels(IN_A, RULE)), []),
    "a part of the rule is there": (
        pod().required(labels(IN_A), labels(RULE)),
        [("add", "/0/matchExpressions/-", RULE)],
    ),
}
EVERYWHERE = snapshot(
    node("n1").label("zone", "a").label("disk", "x").width(2).largest(4),
    node("n2").label("zone", "a").label("disk", "x"),
)


@pytest.mark.parametrize(("built", "want"), AFFINITY.values(), ids=AFFINITY)
def test_required_affinity(built: Pod, want: list[tuple[str, str, Any]]) -> None:
    built.obj["spec"]["containers"] = [container(cpu="6").obj]
    terms = f"/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms"
    whole = operations(built, "/spec/affinity", EVERYWHERE)
    found = [
        (op, path.removeprefix(terms.removeprefix("/spec/affinity")), v) for op, path, v in whole
    ]
    assert found == want


EXCLUDED: dict[str, tuple[Pod, list[tuple[str, Any]]]] = {
    "no term": (
        pod(),
        [("", {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [fields(NOT_N7)]}}})],
    ),
    "a term on labels": (pod().required(labels(IN_A)), [("/0/matchFields", [NOT_N7])]),
    "a term on fields": (
        pod().required(fields(expression("metadata.name", "NotIn", "n1"))),
        [("/0/matchFields/-", NOT_N7)],
    ),
    "fields that are null": (
        pod().required({"matchFields": None, **labels(IN_A)}),
        [("/0/matchFields", [NOT_N7])],
    ),
}


@pytest.mark.parametrize(("built", "want"), EXCLUDED.values(), ids=EXCLUDED)
def test_excluded_nodes(built: Pod, want: list[tuple[str, Any]]) -> None:
    terms = f"/nodeAffinity/{REQUIRED}/nodeSelectorTerms"
    found = operations(built.owner(), "/spec/affinity", REJECTED)
    assert [(path.removeprefix(terms), value) for _, path, value in found] == want


PREFERENCE = {"weight": 100, "preference": TERM}
SOFT: dict[str, tuple[Pod, list[tuple[str, str, Any]]]] = {
    "no affinity": (pod(), [("add", "", {"nodeAffinity": {PREFERRED: [PREFERENCE]}})]),
    "required only": (
        pod().required(labels(IN_A)),
        [("add", f"/nodeAffinity/{PREFERRED}", [PREFERENCE])],
    ),
    "others' preferences stay before ours": (
        pod().preferred(labels(IN_A)),
        [("add", f"/nodeAffinity/{PREFERRED}/-", PREFERENCE)],
    ),
    "an empty preference is none": (
        pod().preferred({}),
        [("add", f"/nodeAffinity/{PREFERRED}/-", PREFERENCE)],
    ),
    "ours is there": (pod().preferred(labels(RULE), weight=100), []),
}


@pytest.mark.parametrize(("built", "want"), SOFT.values(), ids=SOFT)
def test_preferred_affinity(built: Pod, want: list[tuple[str, str, Any]]) -> None:
    built.obj["spec"]["containers"] = [container(cpu="6").obj]
    built.annotate("evencore.io/topology", "preferred")
    assert operations(built, "/spec/affinity", EVERYWHERE) == want


def test_what_was_done_and_what_was_asked_is_written_on_the_pod() -> None:
    answer = admit(pod().containers(container("a", cpu="3"), container("b", cpu="0.5")))
    assert json.loads(answer.annotations["evencore.io/original-cpu"]) == {"a": "3", "b": "0.5"}
    assert answer.annotations["evencore.io/decision"] == (
        "container a: cpu 3 → 4, whole cores of 2 threads; "
        "container b: cpu 500m → 2, whole cores of 2 threads; 1500m more"
    )


def test_an_exclusion_is_written_on_the_pod_with_its_end() -> None:
    answer = admit(pod().owner(), REJECTED)
    assert answer.annotations == {
        "evencore.io/decision": "not on n7 until 10:41Z: TopologyAffinityError, 1 rejection"
    }
    assert answer.labels == {"evencore.io/steering": "excluded"}


@pytest.mark.parametrize(
    ("recorded", "want"),
    [
        pytest.param('{"a":"2500m"}', {"a": "2500m", "b": "5"}, id="the first record stays"),
        pytest.param('{"gone":"1"}', {"a": "3", "b": "5", "gone": "1"}, id="other containers stay"),
        pytest.param("junk", {"a": "3", "b": "5"}, id="junk is replaced"),
        pytest.param('["a"]', {"a": "3", "b": "5"}, id="another shape, too"),
        pytest.param("", {"a": "3", "b": "5"}, id="an empty text, too"),
    ],
)
def test_the_original_is_what_the_author_wrote_first(recorded: str, want: dict[str, str]) -> None:
    built = pod().containers(container("a", cpu="3"), container("b", cpu="5"))
    answer = admit(built.annotate("evencore.io/original-cpu", recorded))
    assert json.loads(answer.annotations["evencore.io/original-cpu"]) == want


def test_what_is_done_in_a_second_pass_stands_behind_the_first() -> None:
    first = admit(pod().cpu("3")).after
    first["spec"]["containers"].append(container("injected", cpu="100m").obj)
    decision = admit(first).annotations["evencore.io/decision"]
    assert [part.split(":")[0] for part in decision.split("; ")][:2] == [
        "container app",
        "container injected",
    ]


def test_a_long_decision_is_cut() -> None:
    many = [container(f"c{number:03}", cpu="3") for number in range(200)]
    decision = admit(pod().containers(*many)).annotations["evencore.io/decision"]
    assert len(decision) == 4096
    assert decision.endswith("...")


@pytest.mark.parametrize("metadata", [None, {}, {"annotations": None}, {"annotations": {}}])
def test_a_pod_with_little_metadata_gets_what_is_missing(metadata: dict[str, Any] | None) -> None:
    built = pod().cpu("3").obj | {"metadata": metadata}
    answer = admit(built)
    assert answer.annotations["evencore.io/original-cpu"] == '{"app":"3"}'


def test_a_pod_without_metadata_gets_it() -> None:
    built = pod().cpu("3").obj
    del built["metadata"]
    assert admit(built).annotations["evencore.io/original-cpu"] == '{"app":"3"}'


@pytest.mark.parametrize(("free", "written"), [(1000, True), (10, False)], ids=["room", "no room"])
def test_no_annotation_makes_a_pod_larger_than_the_api_server_takes(
    free: int, *, written: bool
) -> None:
    # All keys and values of an object may have 256 KiB together.
    answer = admit(pod().cpu("3").annotate("note", "é" * ((256 * 1024 - 4 - free) // 2)))
    assert answer.cpu == {"app": ("4", "4")}
    assert ("evencore.io/decision" in answer.annotations) is written
    sizes = (len(k.encode()) + len(v.encode()) for k, v in answer.annotations.items())
    assert sum(sizes) <= 256 * 1024
