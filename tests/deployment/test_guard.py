"""What the guard lets the controller change: its expressions, on objects before and after."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

import cel
import pytest
from builders import container, pod
from deployment.manifests import Object, objects, one

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNT: Final = "system:serviceaccount:evencore-system:evencore-controller"
OURS: Final = {"name": names.HOLD}
OTHER: Final = {"name": "kueue.x-k8s.io/admission"}


def refusals(policy: str, **context: Any) -> list[str]:  # noqa: ANN401  the variables of the expressions
    """Return the messages of the validations that fail."""
    spec = one("ValidatingAdmissionPolicy", policy, "guard")["spec"]
    return [
        one["message"]
        for one in spec["validations"]
        if cel.compile(one["expression"]).execute(context) is not True
    ]


def held(*gates: Object, **spec: Any) -> Object:  # noqa: ANN401  of the PodSpec
    made: Object = (
        pod().containers(container(cpu="4")).spec(schedulingGates=list(gates), **spec).obj
    )
    return made


def _let_go(obj: Object) -> None:
    del obj["spec"]["schedulingGates"]
    obj["spec"]["affinity"] = {"nodeAffinity": {}}
    obj["metadata"]["labels"] = {names.STEERING: names.RELEASED}


def _let_go_of_ours(obj: Object) -> None:
    obj["spec"]["schedulingGates"] = [OTHER]


def _let_go_of_all(obj: Object) -> None:
    del obj["spec"]["schedulingGates"]


def _image(obj: Object) -> None:
    obj["spec"]["containers"][0]["image"] = "registry.example/other:1"


def _init(obj: Object) -> None:
    obj["spec"]["initContainers"] = [{"name": "i", "image": "registry.example/other:1"}]


def _tolerate(obj: Object) -> None:
    obj["spec"]["tolerations"] = [{"operator": "Exists"}]


@pytest.mark.parametrize(
    ("before", "change", "refused"),
    [
        pytest.param(held(OURS), _let_go, [], id="a held pod is let go, and kept off nodes"),
        pytest.param(held(OURS, OTHER), _let_go_of_ours, [], id="the gate of another stays"),
        pytest.param(held(OURS, OTHER), _let_go_of_all, ["gates of others stay"], id="it goes"),
        pytest.param(held(OURS), _image, ["containers stay as they are"], id="another image"),
        pytest.param(held(OURS), _init, ["containers stay as they are"], id="an init container"),
        pytest.param(held(OURS), _tolerate, ["tolerations stay as they are"], id="a toleration"),
        pytest.param(
            held(OTHER),
            _tolerate,
            [
                "only a pod that evencore holds may be changed by its controller",
                "tolerations stay as they are",
            ],
            id="a pod that somebody else holds",
        ),
    ],
)
def test_of_a_pod_only_the_gate_and_where_it_may_go_are_changed(
    before: Object, change: Callable[[Object], None], refused: list[str]
) -> None:
    after = copy.deepcopy(before)
    change(after)
    assert refusals("evencore-controller-pods", object=after, oldObject=before) == refused


def test_a_running_pod_is_not_changed_at_all() -> None:
    running = pod().containers(container(cpu="4")).obj
    got = refusals("evencore-controller-pods", object=running, oldObject=running)
    assert got == ["only a pod that evencore holds may be changed by its controller"]


@pytest.mark.parametrize(
    ("phase", "labels", "refused"),
    [
        pytest.param("Failed", {names.ADMISSION: names.ENABLED}, 0, id="a rejected pod"),
        pytest.param("Pending", {names.ADMISSION: names.ENABLED}, 0, id="a pod that waits"),
        pytest.param("Running", {names.ADMISSION: names.ENABLED}, 1, id="a pod that runs"),
        pytest.param("Failed", {"team": "a"}, 1, id="its namespace takes no part"),
        pytest.param("Running", {"team": "a"}, 2, id="neither"),
    ],
)
def test_pods_that_run_and_namespaces_that_take_no_part_are_safe(
    phase: str, labels: Object, refused: int
) -> None:
    context = {
        "oldObject": {"status": {"phase": phase}},
        "namespaceObject": {"metadata": {"labels": labels}},
    }
    assert len(refusals("evencore-controller-pod-deletions", **context)) == refused


def node(labels: Object | None = None, annotations: Object | None = None, **spec: Any) -> Object:  # noqa: ANN401  of the NodeSpec
    meta = {"name": "n1", "labels": labels, "annotations": annotations}
    return {
        "metadata": {key: value for key, value in meta.items() if value is not None},
        "spec": spec,
    }


HOST: Final = {"kubernetes.io/hostname": "n1"}
WIDTH: Final = {names.THREADS_PER_CORE: "2"}
TOLD: Final = {names.NODE_TOPOLOGY: "{}"}


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        pytest.param(node(HOST), node({**HOST, **WIDTH}), [], id="a label of ours"),
        pytest.param(node(), node(WIDTH), [], id="the first label of all"),
        pytest.param(node({**HOST, **WIDTH}), node(HOST), [], id="ours is taken off"),
        pytest.param(node(), node(None, {names.ROOM_SINCE: "x"}), [], id="an annotation of ours"),
        pytest.param(
            node(HOST),
            node({"kubernetes.io/hostname": "n2"}),
            ["labels of others are not changed or added", "labels of others are not removed"],
            id="the host's name",
        ),
        pytest.param(
            node(HOST), node({}), ["labels of others are not removed"], id="it is taken off"
        ),
        pytest.param(
            node(),
            node(None, TOLD),
            ["annotations of others are not changed or added"],
            id="what only admins write",
        ),
        pytest.param(
            node(), node(unschedulable=True), ["spec of a node stays as it is"], id="a cordon"
        ),
    ],
)
def test_of_a_node_only_our_labels_and_annotations_are_changed(
    before: Object, after: Object, refused: list[str]
) -> None:
    assert refusals("evencore-controller-nodes", object=after, oldObject=before) == refused


def test_the_policies_are_in_force_for_the_controller_and_nobody_else() -> None:
    made = objects("guard")
    policies = {
        obj["metadata"]["name"]: obj for obj in made if obj["kind"] == "ValidatingAdmissionPolicy"
    }
    bound = {
        obj["spec"]["policyName"]
        for obj in made
        if obj["kind"] == "ValidatingAdmissionPolicyBinding"
    }
    assert bound == policies.keys()
    assert len(bound) == 3
    for obj in policies.values():
        [condition] = obj["spec"]["matchConditions"]
        program = cel.compile(condition["expression"])
        for user, asked in ((ACCOUNT, True), ("kubernetes-admin", False)):
            assert program.execute({"request": {"userInfo": {"username": user}}}) is asked
