"""The simple node model against every answer of a real kubelet that lies within its scope."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from simulator_support import pod

from simulator.kubelet import machine
from simulator.kubelet.hints import Hint, hints_for, judge
from simulator.kubelet.machine import Machine, Place, parse_cpus
from simulator.kubelet.model import Admitted, Rejected
from simulator.kubelet.static import Policies, StaticModel
from simulator.resources import PODS
from simulator.rules.defaults import defaulted

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTORS = Path(__file__).parents[1] / "vectors"
# What the simple model does not have; prefer-closest and max-allowable change no verdict here.
BEYOND = ("memoryManagerPolicy", "featureGates", "topologyManagerPolicyOptions", "reservedCPU")


def scenarios() -> Iterator[dict[str, Any]]:
    rules = (VECTORS / "rules.jsonl").read_text().splitlines()
    random = gzip.decompress((VECTORS / "random-public.jsonl.gz").read_bytes()).splitlines()
    for line in (*rules, *random):
        found = json.loads(line)
        config = found["config"]
        options = set(config.get("cpuManagerPolicyOptions", {})) - {"full-pcpus-only"}
        if not options and not any(part in config for part in BEYOND) and "startError" not in found:
            yield found


def model_of(scenario: dict[str, Any]) -> StaticModel:
    config = scenario["config"]
    cores = scenario["machine"]["cores"]
    places = {cpu: Place(min(cpus), numa) for numa, _, _, cpus in cores for cpu in cpus}
    built = Machine(places, len(places) // len(cores))
    policies = Policies(
        static=True,
        full_cores="full-pcpus-only" in config.get("cpuManagerPolicyOptions", {}),
        topology=config["topologyManagerPolicy"],
        pod_scope=config["topologyManagerScope"] == "pod",
        reserved=parse_cpus(config.get("reservedSystemCPUs", "")),
    )
    return StaticModel(built, policies)


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


def wrong_answers(scenario: dict[str, Any]) -> tuple[int, int]:
    """Play a scenario up to the first answer that differs; tell how many were given and differ."""
    model, asked = model_of(scenario), 0
    pods: dict[str, dict[str, Any]] = {}
    for step in scenario["steps"]:
        if step["op"] == "remove":
            model.remove(step["name"])
            pods.pop(step["name"], None)
            continue
        if step["op"] == "restart":
            results = step.get("results", [])
            answers = model.restart(list(pods.values()))
        else:
            name = step["spec"]["name"]
            pods[name] = pod_of(step["spec"])
            results, answers = [{**step["result"], "pod": name}], [model.admit(pods[name])]
        for result, answer in zip(results, answers, strict=True):
            asked += 1
            if result["admitted"]:
                same = isinstance(answer, Admitted)
            elif result["reason"] == "OutOfcpu":  # the node predicates' part, which come after it
                same = isinstance(answer, Admitted)
                model.remove(result["pod"])
            else:
                same = answer == Rejected(result["reason"], result["message"])
            if not same:
                return asked, 1
            if not result["admitted"]:
                del pods[result["pod"]]
    return asked, 0


def test_the_model_answers_as_a_real_kubelet_did() -> None:
    """Not always: it picks other CPUs of equal rank, which may matter many pods later."""
    counted = [wrong_answers(scenario) for scenario in scenarios()]
    asked, wrong = (sum(one) for one in zip(*counted, strict=True))
    assert len(counted) > 700
    assert asked > 7000
    assert wrong / asked < 0.002


def autokh() -> StaticModel:
    built = machine.build(
        cores=24, threads_per_core=2, numa_nodes=2, interleaved=True, adjacent=False
    )
    policies = Policies(
        static=True,
        full_cores=True,
        topology="single-numa-node",
        pod_scope=False,
        reserved=parse_cpus("0,24"),
    )
    return StaticModel(built, policies)


def guaranteed(name: str, cpu: str) -> dict[str, Any]:
    return pod_of({"name": name, "containers": [["app", "app", cpu, cpu, "1Gi", "1Gi"]]})


def test_cpus_come_as_whole_cores_of_one_numa_node() -> None:
    model = autokh()
    answer = model.admit(guaranteed("a", "4"))
    assert answer == Admitted({"app": frozenset((2, 26, 4, 28))})
    assert model.held() == frozenset((2, 26, 4, 28))
    model.remove("a")
    assert model.held() == frozenset()


def test_a_fraction_runs_in_the_shared_pool() -> None:
    model = autokh()
    assert model.admit(guaranteed("a", "1500m")) == Admitted({})


def test_a_restart_kills_what_fills_the_node() -> None:
    """Kubernetes bug 129078: the check does not count the CPUs that the pod itself holds."""
    model = autokh()
    pods = [guaranteed("a", "22"), guaranteed("b", "24")]
    assert all(isinstance(model.admit(pod), Admitted) for pod in pods)
    text = "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 0, "
    assert model.restart(pods) == [
        Rejected("SMTAlignmentError", f"{text}requested CPUs = {cpus}, CPUs per core = 2")
        for cpus in (22, 24)
    ]
    assert model.held() == frozenset()


def test_preferred_is_what_the_machine_not_what_its_rest_allows() -> None:
    totals, left = {0: 24, 1: 24}, {0: 22, 1: 0}
    assert hints_for(23, totals, left) == []
    assert hints_for(22, totals, left) == [
        Hint(frozenset((0,)), preferred=True),
        Hint(frozenset((0, 1)), preferred=False),
    ]


BOTH = frozenset((0, 1))
WIDE = [Hint(BOTH, preferred=False)]
POLICIES = {
    "none asks for nothing": ("none", WIDE, True, None),
    "best effort takes what there is": ("best-effort", WIDE, True, BOTH),
    "best effort admits what cannot be": ("best-effort", [], True, BOTH),
    "restricted wants it preferred": ("restricted", WIDE, False, BOTH),
    "restricted takes two nodes if it must": ("restricted", [Hint(BOTH, True)], True, BOTH),
    "single never takes two": ("single-numa-node", [Hint(BOTH, True)], False, BOTH),
    "no preference suits everybody": ("single-numa-node", None, True, None),
}


@pytest.mark.parametrize(("policy", "given", "admitted", "nodes"), POLICIES.values(), ids=POLICIES)
def test_policies(
    policy: str,
    given: list[Hint] | None,
    admitted: bool,  # noqa: FBT001  a table
    nodes: frozenset[int] | None,
) -> None:
    assert judge(policy, given, BOTH) == (admitted, nodes)


NUMBERINGS = {
    "interleaved, apart": (True, False, [(0, 0), (1, 1), (0, 0), (1, 1)]),
    "blocked, apart": (False, False, [(0, 0), (1, 1), (0, 0), (1, 1)]),
    "interleaved, adjacent": (True, True, [(0, 0), (0, 0), (2, 1), (2, 1)]),
}


@pytest.mark.parametrize(("interleaved", "adjacent", "places"), NUMBERINGS.values(), ids=NUMBERINGS)
def test_numbering_of_two_cores(
    interleaved: bool,  # noqa: FBT001  a table
    adjacent: bool,  # noqa: FBT001  a table
    places: list[tuple[int, int]],
) -> None:
    built = machine.build(
        cores=2, threads_per_core=2, numa_nodes=2, interleaved=interleaved, adjacent=adjacent
    )
    assert [built.places[cpu] for cpu in range(4)] == places


def test_blocked_numbering_keeps_neighbours_together() -> None:
    built = machine.build(
        cores=4, threads_per_core=1, numa_nodes=2, interleaved=False, adjacent=False
    )
    assert [built.places[cpu].numa for cpu in range(4)] == [0, 0, 1, 1]
