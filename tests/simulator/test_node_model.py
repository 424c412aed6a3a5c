"""The node model of the pocket cluster: what a real kubelet said, to pods as the API has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kubelet_vectors import config_of, machine_of, scenarios
from simulator_support import pod

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.managers import Managers
from evencore.domain.kubelet.refusals import StartError
from evencore.nodefiles.machine import Plan, build
from simulator.kubelet.exact import SharedModel, StaticModel, model_of
from simulator.kubelet.model import Admitted, Rejected
from simulator.kubelet.presets import PRESETS
from simulator.resources import PODS
from simulator.rules.defaults import defaulted

VECTORS = Path(__file__).parents[1] / "vectors"
# All are asked in tests/test_kubelet_vectors.py; here it is about reading pods and writing answers.
EVERY = 10


def pod_of(spec: dict[str, Any]) -> dict[str, Any]:
    def container(written: list[str | None]) -> dict[str, Any]:
        name, kind, *amounts = written
        pairs = zip(
            ("requests", "limits") * 2, ("cpu", "cpu", "memory", "memory"), amounts, strict=True
        )
        given: dict[str, Any] = {}
        for part, resource, amount in pairs:
            if amount is not None:
                given.setdefault(part, {})[resource] = amount
        always = {"restartPolicy": "Always"} if kind == "sidecar" else {}
        return {"name": name, "image": "x", "resources": given, **always}

    made = pod(
        spec["name"],
        containers=[container(one) for one in spec["containers"] if one[1] == "app"],
        initContainers=[container(one) for one in spec["containers"] if one[1] != "app"],
        **({"resources": spec["resources"]} if "resources" in spec else {}),
    )
    made["metadata"]["uid"] = spec["name"]
    return defaulted(PODS, made)


def wanted(result: dict[str, Any]) -> Admitted | Rejected:
    """Say what the model says. OutOfcpu is the node predicates' part, which come after it."""
    if result["admitted"]:
        sets = result.get("cpusets", {})
        return Admitted({name: cpuset.parse(cpus) for name, cpus in sets.items()})
    if result["reason"] == "OutOfcpu":
        sets = result.get("partial", {})
        return Admitted({name: cpuset.parse(cpus) for name, cpus in sets.items()})
    return Rejected(result["reason"], result["message"])


def wrong_answers(scenario: dict[str, Any]) -> list[str]:
    model = StaticModel(Managers(machine_of(scenario["machine"]), config_of(scenario["config"])))
    pods: dict[str, dict[str, Any]] = {}
    wrong = []
    for step in scenario["steps"]:
        results = []
        if step["op"] == "add":
            name = step["spec"]["name"]
            pods[name] = pod_of(step["spec"])
            results, answers = [{**step["result"], "pod": name}], [model.admit(pods[name])]
        elif step["op"] == "restart":
            results, answers = step.get("results", []), model.restart(list(pods.values()))
        else:
            model.remove(step["name"])
            del pods[step["name"]]
        for result, answer in zip(results, answers if results else [], strict=True):
            if answer != wanted(result):
                wrong.append(result["pod"])
            if not result["admitted"]:
                model.remove(result["pod"])
                del pods[result["pod"]]
    return wrong


@pytest.mark.parametrize("file", ["rules.jsonl", "random-public.jsonl.gz"])
def test_the_model_answers_as_a_real_kubelet_did(file: str) -> None:
    asked = [
        scenario
        for number, scenario in enumerate(scenarios(VECTORS / file))
        if "startError" not in scenario and (file == "rules.jsonl" or number % EVERY == 0)
    ]
    assert {one["id"]: wrong for one in asked if (wrong := wrong_answers(one))} == {}
    assert len(asked) > 90


def guaranteed(name: str, cpu: str) -> dict[str, Any]:
    return pod_of({"name": name, "containers": [["app", "app", cpu, cpu, "1Gi", "1Gi"]]})


def test_cpus_are_held_until_the_pod_is_removed() -> None:
    [autokh] = PRESETS["autokh"].nodes
    model = model_of(autokh)
    assert model.admit(guaranteed("a", "4")) == Admitted({"app": cpuset.parse("2,4,26,28")})
    assert model.held() == cpuset.parse("2,4,26,28")
    assert model.reserved == cpuset.parse("0,24")
    model.remove("a")
    assert model.held() == 0


def test_the_class_in_the_status_of_a_pod_wins() -> None:
    [autokh] = PRESETS["autokh"].nodes
    burstable = guaranteed("a", "4")
    burstable["status"] = {"qosClass": "Burstable"}
    assert model_of(autokh).admit(burstable) == Admitted({})


def test_a_restart_kills_what_fills_the_node() -> None:
    """Kubernetes bug 129078: the check does not count the CPUs that the pod itself holds."""
    [autokh] = PRESETS["autokh"].nodes
    model = model_of(autokh)
    pods = [guaranteed("a", "22"), guaranteed("b", "24")]
    assert all(isinstance(model.admit(pod), Admitted) for pod in pods)
    text = "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 0, "
    assert model.restart(pods) == [
        Rejected("SMTAlignmentError", f"{text}requested CPUs = {cpus}, CPUs per core = 2")
        for cpus in (22, 24)
    ]
    assert model.held() == 0


def test_a_restart_forgets_pods_that_have_gone_meanwhile() -> None:
    [autokh] = PRESETS["autokh"].nodes
    model = model_of(autokh)
    model.admit(guaranteed("a", "4"))
    assert model.restart([]) == []
    assert model.held() == 0


def test_without_the_static_policy_nobody_has_cpus_of_his_own() -> None:
    model = SharedModel(cpuset.parse("0"))
    assert model.admit(guaranteed("a", "4")) == Admitted({})
    assert model.restart([guaranteed("a", "4")]) == [Admitted({})]
    model.remove("a")
    assert (model.held(), model.reserved) == (0, 1)


def test_what_a_restart_lost_is_said_by_the_next_one() -> None:
    """Gate PodLevelResourceManagers: see tests/unit/test_kubelet_start.py."""
    scenario = next(
        s for s in scenarios(VECTORS / "rules.jsonl") if s["id"].endswith("shared-left-be")
    )
    model = StaticModel(Managers(machine_of(scenario["machine"]), config_of(scenario["config"])))
    level = {"cpu": "4", "memory": "4Gi"}
    spec = {
        "name": "a",
        "containers": [["c", "app", "2", "2", "1Gi", "1Gi"], ["d", "app", *[None] * 4]],
        "resources": {"requests": level, "limits": level},
    }
    pods = [pod_of(spec)]
    assert isinstance(model.admit(pods[0]), Admitted)
    assert isinstance(model.restart(pods)[0], Admitted)
    with pytest.raises(StartError, match="doesn't match with CPUs in state"):
        model.restart(pods)


def plan(*, interleaved: bool, adjacent: bool, **more: Any) -> Plan:  # noqa: ANN401  fields of Plan
    given = {"sockets": 2, "numa_nodes": 2, "cores": 4, "threads_per_core": 2, **more}
    return Plan(interleaved=interleaved, adjacent=adjacent, **given)


NUMBERINGS = {
    "interleaved, apart": (plan(interleaved=True, adjacent=False), ["0,2,4,6", "1,3,5,7"]),
    "blocked, apart": (plan(interleaved=False, adjacent=False), ["0-1,4-5", "2-3,6-7"]),
    "interleaved, adjacent": (plan(interleaved=True, adjacent=True), ["0-1,4-5", "2-3,6-7"]),
    "blocked, adjacent": (plan(interleaved=False, adjacent=True), ["0-3", "4-7"]),
}


@pytest.mark.parametrize(("plan", "cpus"), NUMBERINGS.values(), ids=NUMBERINGS)
def test_cpus_are_numbered_as_a_firmware_would(plan: Plan, cpus: list[str]) -> None:
    built = build(plan)
    assert [cpuset.show(one) for one in built.numas.values()] == cpus
    assert list(built.sockets.values()) == list(built.numas.values())


def test_threads_of_a_core_are_apart_or_neighbours() -> None:
    apart = build(plan(interleaved=False, adjacent=False))
    assert cpuset.show(apart.cores_of(1)) == "0,4"
    adjacent = build(plan(interleaved=False, adjacent=True))
    assert cpuset.show(adjacent.cores_of(1)) == "0-1"


def test_sockets_are_nearer_to_themselves_and_have_their_own_caches() -> None:
    four = plan(interleaved=False, adjacent=True, numa_nodes=4, cores=16, cores_per_l3=2, memory=64)
    built = build(four)
    assert built.distances == (
        (10, 12, 21, 21),
        (12, 10, 21, 21),
        (21, 21, 10, 12),
        (21, 21, 12, 10),
    )
    assert [cpuset.show(cpus) for cpus in built.l3s.values()] == [
        f"{first}-{first + 3}" for first in range(0, 32, 4)
    ]
    assert built.memory == (16, 16, 16, 16)
