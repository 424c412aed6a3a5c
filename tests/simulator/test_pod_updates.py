"""What an update of a pod may change: gates, node selection, and nothing else of weight."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_support import pod

from simulator.objects import copy
from simulator.resources import PODS
from simulator.rules import pod_updates
from simulator.rules.defaults import defaulted

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GATE = [{"name": "evencore.io/hold"}]


def requirement(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "NotIn", "values": list(values)}


def affinity(*terms: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON value
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}, **more}


X, Y = requirement("x", "1"), requirement("y", "2")
OLD = {"matchExpressions": [X]}
PREFERENCE = {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": OLD}]}}

# old spec, what the new one has instead (None: the field is gone), the field that is refused.
UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "nothing": ({}, {}, None),
    "a gate goes": ({"schedulingGates": GATE}, {"schedulingGates": None}, None),
    "a gate comes": ({}, {"schedulingGates": GATE}, "spec.schedulingGates[0].name"),
    "another gate comes": (
        {"schedulingGates": GATE},
        {"schedulingGates": [*GATE, {"name": "a/b"}]},
        "spec.schedulingGates[1].name",
    ),
    "one of two gates goes, in any order": (
        {"schedulingGates": [{"name": "a/b"}, *GATE]},
        {"schedulingGates": GATE},
        None,
    ),
    "gated: a selector key more": (
        {"schedulingGates": GATE, "nodeSelector": {"a": "1"}},
        {"nodeSelector": {"a": "1", "b": "2"}},
        None,
    ),
    "gated: a selector key changed": (
        {"schedulingGates": GATE, "nodeSelector": {"a": "1"}},
        {"nodeSelector": {"a": "2"}},
        "spec.nodeSelector",
    ),
    "gated: affinity from nothing": ({"schedulingGates": GATE}, {"affinity": affinity(OLD)}, None),
    "gated: an expression more, and the gate goes in the same update": (
        {"schedulingGates": GATE, "affinity": affinity(OLD)},
        {"schedulingGates": None, "affinity": affinity({"matchExpressions": [X, Y]})},
        None,
    ),
    "gated: a field more": (
        {"schedulingGates": GATE, "affinity": affinity(OLD)},
        {"affinity": affinity({**OLD, "matchFields": [requirement("metadata.name", "n1")]})},
        None,
    ),
    "gated: an expression less": (
        {"schedulingGates": GATE, "affinity": affinity({"matchExpressions": [X, Y]})},
        {"affinity": affinity(OLD)},
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]",
    ),
    "gated: an expression before the others": (
        {"schedulingGates": GATE, "affinity": affinity(OLD)},
        {"affinity": affinity({"matchExpressions": [Y, X]})},
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]",
    ),
    "gated: a term more": (
        {"schedulingGates": GATE, "affinity": affinity(OLD)},
        {"affinity": affinity(OLD, OLD)},
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
    ),
    "gated: an empty term gains something": (
        {"schedulingGates": GATE, "affinity": affinity({}, OLD)},
        {"affinity": affinity(OLD, OLD)},
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]",
    ),
    "gated: preferences come and go": (
        {"schedulingGates": GATE, "affinity": PREFERENCE},
        {"affinity": None},
        None,
    ),
    "gated: pod affinity": (
        {"schedulingGates": GATE},
        {"affinity": {"podAntiAffinity": {REQUIRED: []}}},
        "spec",
    ),
    "gated: priority": ({"schedulingGates": GATE}, {"priority": 7}, "spec"),
    "gated: the scheduler": ({"schedulingGates": GATE}, {"schedulerName": "other"}, "spec"),
    "not gated: affinity": ({}, {"affinity": affinity(OLD)}, "spec"),
    "not gated: a selector key more": ({}, {"nodeSelector": {"a": "1"}}, "spec"),
    "a toleration more": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        None,
    ),
    "a toleration less": ({"tolerations": [{"key": "a"}]}, {"tolerations": []}, "spec.tolerations"),
    "a deadline": ({}, {"activeDeadlineSeconds": 5}, None),
    "the node": ({}, {"nodeName": "n1"}, "spec"),
}


def build(spec: dict[str, Any]) -> dict[str, Any]:
    return defaulted(PODS, pod("p", **spec))


@pytest.mark.parametrize(("old", "change", "refused"), UPDATES.values(), ids=UPDATES)
def test_updates(old: dict[str, Any], change: dict[str, Any], refused: str | None) -> None:
    merged = {key: value for key, value in {**old, **change}.items() if value is not None}
    found = [cause.field for cause in pod_updates.check(build(old), build(merged))]
    assert found == ([refused] if refused else [])


CONTAINERS = {
    "an image": ("image", "registry.example/app:2", None),
    "no image": ("image", "", "spec.containers[0].image"),
    "resources": ("resources", {"limits": {"cpu": "1"}}, "spec"),
    "the command": ("command", ["x"], "spec"),
}


@pytest.mark.parametrize(("part", "value", "refused"), CONTAINERS.values(), ids=CONTAINERS)
def test_updates_of_a_container(part: str, value: object, refused: str | None) -> None:
    old = build({"schedulingGates": GATE})
    new = copy(old)
    new["spec"]["containers"][0][part] = value
    found = [cause.field for cause in pod_updates.check(old, new)]
    assert found == ([refused] if refused else [])


def test_containers_neither_come_nor_go() -> None:
    old = build({})
    new = copy(old)
    new["spec"]["containers"].append({"name": "more", "image": "x"})
    assert [cause.field for cause in pod_updates.check(old, new)] == ["spec.containers"]
    assert [cause.field for cause in pod_updates.check(new, old)] == ["spec.containers"]
