"""Every pod that a real kubelet was asked to admit: its QoS class, and why it was refused.

The kubelet pins CPUs only of pods that it calls Guaranteed, so ours must be the same class. The
pods are as their authors wrote them; the kubelet saw them after the API server's defaulting.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from builders import pod

from evencore.domain.qos import qos_class
from evencore.domain.rejection import Kind, classify
from evencore.domain.resources import read_amounts

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = Path(__file__).parent / "vectors"


def _scenarios(name: str) -> Iterator[dict[str, Any]]:
    data = (_FOLDER / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    yield from map(json.loads, text.splitlines())


def _container(written: list[str | None]) -> dict[str, Any]:
    name, kind, cpu_request, cpu_limit, memory_request, memory_limit = written
    amounts = {
        "requests": {"cpu": cpu_request, "memory": memory_request},
        "limits": {"cpu": cpu_limit, "memory": memory_limit},
    }
    resources = {
        part: given
        for part, values in amounts.items()
        if (given := {k: v for k, v in values.items() if v is not None})
    }
    always = {"restartPolicy": "Always"} if kind == "sidecar" else {}
    return {"name": name, "resources": resources, **always}


def _class_of(spec: dict[str, Any]) -> str:
    apps = [_container(c) for c in spec["containers"] if c[1] == "app"]
    inits = [_container(c) for c in spec["containers"] if c[1] != "app"]
    built = pod().spec(containers=apps, initContainers=inits)
    if "resources" in spec:
        built.spec(resources=spec["resources"])
    view = built.view.spec
    assert view is not None
    return qos_class(read_amounts(view)).value


@pytest.mark.parametrize(
    ("file", "pods"), [("rules.jsonl", 185), ("random-public.jsonl.gz", 20_000)]
)
def test_our_qos_class_is_that_of_the_kubelet(file: str, pods: int) -> None:
    seen: Counter[str] = Counter()
    wrong = []
    for scenario in _scenarios(file):
        for step in scenario["steps"]:
            if step["op"] != "add":
                continue
            want = step["result"]["qos"]
            seen[want] += 1
            if _class_of(step["spec"]) != want:
                wrong.append((scenario["id"], step["spec"], want))
    assert wrong == []
    assert seen.total() >= pods
    assert seen["Guaranteed"] > seen["Burstable"] > 0


_KIND = {
    "TopologyAffinityError": Kind.NO_ALIGNED_NUMA,
    "UnexpectedAdmissionError": Kind.UNEXPECTED,
    "OutOfcpu": Kind.OUT_OF,
    "EmptyPodSharedPoolError": None,  # behind an alpha gate, and no other node would cure it
}


def _kind_wanted(reason: str, message: str) -> Kind | None:
    if reason == "SMTAlignmentError":
        return Kind.MISALIGNED if "not multiple" in message else Kind.NO_FREE_CORES
    return _KIND[reason]


@pytest.mark.parametrize("file", ["rules.jsonl", "random-public.jsonl.gz"])
def test_every_refusal_is_of_the_kind_that_it_says(file: str) -> None:
    seen: Counter[Kind | None] = Counter()
    for scenario in _scenarios(file):
        for step in scenario["steps"]:
            for result in [step["result"]] if "result" in step else step.get("results", []):
                if result["admitted"]:
                    continue
                reason, message = result["reason"], result["message"]
                kind = classify(reason, f"Pod was rejected: {message}")
                assert kind is _kind_wanted(reason, message), message
                seen[kind] += 1
    assert all(seen[kind] for kind in Kind)
