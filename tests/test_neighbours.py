"""What other webhooks, controllers and people do around us, from public reports of such meetings.

Other mutating webhooks run after ours and the API server then calls us again
(`reinvocationPolicy: IfNeeded`), with whatever they made of the pod.
"""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from admission import Answer, admit
from builders import (
    Container,
    container,
    expression,
    failed,
    labels,
    limit_range,
    node,
    pod,
    review,
    snapshot,
)

CLUSTER = (
    node("small").named().width(2).largest(4),
    node("n1").named().width(2).largest(22),
    node("n2").named().width(2).largest(22),
)


def again(answer: Answer, known: Any = None, **containers: list[Container]) -> Answer:  # noqa: ANN401  a snapshot
    """Send the pod once more, with containers that another webhook has added."""
    after = copy.deepcopy(answer.after)
    for part, added in containers.items():
        after["spec"].setdefault(part, []).extend(c.obj for c in added)
    return admit(after, known)


def test_a_sidecar_injected_after_us_is_aligned_in_the_second_call() -> None:
    first = admit(pod().cpu("3"))
    second = again(first, containers=[container("mesh-proxy", cpu="100m")])
    assert second.cpu == {"app": ("4", "4"), "mesh-proxy": ("2", "2")}
    original = json.loads(second.annotations["evencore.io/original-cpu"])
    assert original == {"app": "3", "mesh-proxy": "100m"}


def test_a_native_sidecar_injected_after_us_is_aligned_too() -> None:
    second = again(admit(pod().cpu("3")), initContainers=[container("proxy", cpu="100m").sidecar()])
    assert second.cpu["proxy"] == ("2", "2")


def test_a_sidecar_without_limits_makes_the_pod_burstable_and_we_leave_it_alone() -> None:
    second = again(admit(pod().cpu("3")), containers=[container("proxy").limits(None)])
    assert second.patch == []


def test_a_pod_that_another_webhook_makes_guaranteed_is_aligned_then() -> None:
    first = admit(pod().containers(container(cpu="3").limits(None)))
    assert first.patch == []
    first.after["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "3", "memory": "1Gi"}
    assert again(first).cpu == {"app": ("4", "4")}


def test_a_pod_that_grows_between_the_calls_is_kept_off_nodes_that_are_too_small_now() -> None:
    known = snapshot(*CLUSTER)
    first = admit(pod().cpu("4"), known)
    assert first.required is None
    second = again(first, known, containers=[container("proxy", cpu="2")])
    assert second.required == [labels(expression("evencore.io/max-pod-cpus", "NotIn", "4"))]


def test_a_node_that_refuses_between_the_calls_is_excluded_in_the_second() -> None:
    first = admit(pod().owner(), snapshot(*CLUSTER, failed("n1")))
    second = again(first, snapshot(*CLUSTER, failed("n1"), failed("n2")))
    assert [op for op in second.patch if "nodeSelectorTerms" in op["path"]] == [
        {
            "op": "add",
            "path": "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"
            "/nodeSelectorTerms/0/matchExpressions/-",
            "value": expression("evencore.io/node", "NotIn", "n2"),
        }
    ]


def test_a_webhook_that_changes_labels_after_us_makes_us_change_nothing() -> None:
    first = admit(pod().cpu("3").owner(), snapshot(*CLUSTER, failed("n1")))
    first.after["metadata"]["labels"]["team"] = "x"
    assert again(first, snapshot(*CLUSTER, failed("n1"))).patch == []


def test_a_webhook_that_writes_our_amounts_in_its_own_way_makes_us_change_nothing() -> None:
    first = admit(pod().cpu("3"))
    resources = first.after["spec"]["containers"][0]["resources"]
    resources["requests"]["cpu"] = resources["limits"]["cpu"] = "4000m"
    assert again(first).patch == []


def test_a_pod_made_from_the_manifest_of_a_patched_one_is_as_good_as_a_patched_one() -> None:
    known = snapshot(*CLUSTER, failed("n1"))
    live = admit(pod().cpu("5").owner(), known).after
    live["metadata"].pop("ownerReferences")
    assert admit(live, known).patch == []


def test_a_policy_for_an_init_container_is_one_by_its_name() -> None:
    built = pod().cpu("3").inits(container("setup", cpu="500m"))
    answer = admit(built.annotate("evencore.io/cpu.setup", "keep"))
    assert answer.cpu == {"app": ("4", "4"), "setup": ("500m", "500m")}


def test_the_last_pods_of_a_deployment_do_not_steer_those_of_its_next_revision() -> None:
    known = snapshot(*CLUSTER, failed("n1", "rs-old"))
    assert admit(pod().owner("rs-new"), known).patch == []


def test_a_pod_of_a_stateful_set_is_steered_by_its_predecessor_of_the_same_name() -> None:
    last = pod("db-0").owner("sts-1", "StatefulSet").rejected("n1")
    known = snapshot(*CLUSTER, last.metadata(uid="u1", namespace="apps"))
    built = pod("db-0").metadata(generateName="db-").owner("sts-1", "StatefulSet")
    assert admit(built, known).labels == {"evencore.io/steering": "excluded"}


def test_the_users_own_exclusion_of_a_node_is_not_repeated() -> None:
    built = pod().owner().required(labels(expression("evencore.io/node", "NotIn", "n1")))
    assert admit(built, snapshot(*CLUSTER, failed("n1"))).patch == []


def test_names_in_other_scripts_pass_through_unharmed() -> None:
    built = pod().cpu("3").annotate("team.example/città", "Zürich → 東京 𝄞").label("a", "b")
    answer = admit(built)
    assert answer.annotations["team.example/città"] == "Zürich → 東京 𝄞"


def test_static_fields_of_later_versions_survive() -> None:
    built = pod().cpu("3").spec(futureField={"nested": [None, {"a": 1}]})
    built.obj["spec"]["containers"][0]["restartPolicyRules"] = [{"action": "Restart"}]
    after = admit(built).after
    assert after["spec"]["futureField"] == {"nested": [None, {"a": 1}]}
    assert after["spec"]["containers"][0]["restartPolicyRules"] == [{"action": "Restart"}]


def test_a_limit_range_keeps_one_container_while_the_others_are_aligned() -> None:
    known = snapshot(limit_range().maximum("3"))
    answer = admit(pod().containers(container("a", cpu="3"), container("b", cpu="1")), known)
    assert answer.cpu == {"a": ("3", "3"), "b": ("2", "2")}


def test_a_container_that_a_limit_range_keeps_odd_is_kept_off_nodes_that_would_refuse_it() -> None:
    nodes = [node("smt").width(2), node("flat").width(1), node("fresh")]
    answer = admit(pod().cpu("3"), snapshot(*nodes, limit_range().maximum("3")))
    assert answer.required == [labels(expression("evencore.io/threads-per-core", "NotIn", "2"))]


@pytest.mark.parametrize("count", [100, 1000])
def test_a_pod_of_very_many_containers_is_answered(count: int) -> None:
    many = [container(f"c{number}", cpu="100m") for number in range(count)]
    begin = time.process_time()
    answer = admit(review(pod().containers(*many)))
    assert set(answer.cpu.values()) == {("2", "2")}
    # The API server waits 10 s at most; strict application of the patch takes most of this.
    assert time.process_time() - begin < 5


def test_a_pod_of_three_megabytes_is_answered() -> None:
    built = pod().cpu("3")
    for number in range(3000):
        built.annotate(f"team.example/{number}", "x" * 1000)
    assert admit(built).cpu == {"app": ("4", "4")}
