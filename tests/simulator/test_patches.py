"""Merge patch and strategic merge patch, by tables."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.errors import ApiError
from simulator.objects import copy
from simulator.patches.plain import json_patch, merge_patch
from simulator.patches.strategic import strategic_merge

A, B, C = ({"name": name, "value": name} for name in "ABC")

# RFC 7386, appendix A, and the sentences that its examples stand for.
MERGES = {
    "a value is replaced": ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    "a value is added": ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    "null removes": ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    "null removes nothing that is not there": ({}, {"a": None}, {}),
    "lists are replaced": ({"a": ["b"]}, {"a": ["c", "d"]}, {"a": ["c", "d"]}),
    "maps are merged": ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
    "a map replaces what is none": ({"a": [1]}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
}


@pytest.mark.parametrize(("obj", "patch", "want"), MERGES.values(), ids=MERGES)
def test_merge_patch(obj: Any, patch: Any, want: Any) -> None:  # noqa: ANN401  any JSON value
    before = copy(obj)
    assert merge_patch(obj, patch) == want
    assert obj == before


STRATEGIC = {
    "maps are merged, null removes": (
        {"metadata": {"labels": {"a": "1", "b": "2"}}},
        {"metadata": {"labels": {"a": None, "c": "3"}}},
        {"metadata": {"labels": {"b": "2", "c": "3"}}},
    ),
    "containers are merged by name": (
        {"containers": [{"name": "a", "image": "1", "args": ["x"]}, {"name": "b"}]},
        {"containers": [{"name": "a", "image": "2"}]},
        {"containers": [{"name": "a", "image": "2", "args": ["x"]}, {"name": "b"}]},
    ),
    "a new container comes last": (
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "b", "image": None}]},
        {"containers": [{"name": "a"}, {"name": "b"}]},
    ),
    "within a container the same rules hold": (
        {"containers": [{"name": "a", "env": [A, B]}]},
        {"containers": [{"name": "a", "env": [{"name": "B", "value": "x"}]}]},
        {"containers": [{"name": "a", "env": [A, {"name": "B", "value": "x"}]}]},
    ),
    "tolerations have no merge key": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "taints have none either": ({"taints": [{"key": "a"}]}, {"taints": []}, {"taints": []}),
    "conditions are merged by type": (
        {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other"}]},
        {"conditions": [{"type": "Ready", "status": "False"}]},
        {"conditions": [{"type": "Ready", "status": "False"}, {"type": "Other"}]},
    ),
    "ports by number": (
        {"ports": [{"containerPort": 80, "name": "old"}]},
        {"ports": [{"containerPort": 80, "name": "new"}, {"containerPort": 81}]},
        {"ports": [{"containerPort": 80, "name": "new"}, {"containerPort": 81}]},
    ),
    "ports of a Service by theirs": (
        {"ports": [{"port": 80, "targetPort": 80}, {"port": 81}]},
        {"ports": [{"port": 80, "targetPort": 90}]},
        {"ports": [{"port": 80, "targetPort": 90}, {"port": 81}]},
    ),
    "a gate is deleted by its name": (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        {"schedulingGates": [{"name": "a", "$patch": "delete"}]},
        {"schedulingGates": [{"name": "b"}]},
    ),
    "a list is replaced on demand": (
        {"env": [A, B]},
        {"env": [{"$patch": "replace"}, C]},
        {"env": [C]},
    ),
    "a map is replaced on demand": (
        {"nodeSelector": {"a": "1"}},
        {"nodeSelector": {"$patch": "replace", "b": "2"}},
        {"nodeSelector": {"b": "2"}},
    ),
    "a map is emptied on demand": (
        {"affinity": {"nodeAffinity": {"x": 1}}},
        {"affinity": {"$patch": "delete"}},
        {"affinity": {}},
    ),
    "finalizers are a set": (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["b", "c"]}},
        {"metadata": {"finalizers": ["a", "b", "c"]}},
    ),
    "a finalizer is deleted from the set": (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
        {"metadata": {"finalizers": ["b"]}},
    ),
    "the finalizers of a namespace are no set": (
        {"spec": {"finalizers": ["kubernetes"]}},
        {"spec": {"finalizers": []}},
        {"spec": {"finalizers": []}},
    ),
    "keys that are not retained go": (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
        {"strategy": {"type": "Recreate"}},
    ),
    "the order is set": (
        {"env": [A, B, C]},
        {"$setElementOrder/env": [{"name": "C"}, {"name": "A"}, {"name": "B"}], "env": [A]},
        {"env": [C, A, B]},
    ),
    "who is not in the order stays before who came after": (
        {"env": [A, B, C]},
        {"$setElementOrder/env": [{"name": "A"}, {"name": "C"}], "env": [A]},
        {"env": [A, B, C]},
    ),
    "the order alone": (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"$setElementOrder/finalizers": ["b", "a"]}},
        {"metadata": {"finalizers": ["b", "a"]}},
    ),
    "directives do not stay": (
        {},
        {"env": [{**A, "$patch": "merge"}], "affinity": {"$retainKeys": ["x"], "x": 1}},
        {"env": [A], "affinity": {"x": 1}},
    ),
}


@pytest.mark.parametrize(("obj", "patch", "want"), STRATEGIC.values(), ids=STRATEGIC)
def test_strategic_merge_patch(
    obj: dict[str, Any], patch: dict[str, Any], want: dict[str, Any]
) -> None:
    before = copy(obj)
    assert strategic_merge(obj, patch) == want
    assert obj == before


def test_an_item_without_its_merge_key_is_refused() -> None:
    with pytest.raises(ApiError, match="without its merge key name"):
        strategic_merge({"env": [A]}, {"env": [{"value": "x"}]})


JSON_REFUSALS = {
    "no list": ({}, 400),
    "no operation": ([{"op": "nothing", "path": "/a"}], 422),
    "no such place": ([{"op": "remove", "path": "/x/y"}], 422),
    "a test that fails": ([{"op": "test", "path": "/a", "value": 2}], 422),
    "into what is no map": ([{"op": "add", "path": "/a/b", "value": 2}], 422),
}


@pytest.mark.parametrize(("patch", "want"), JSON_REFUSALS.values(), ids=JSON_REFUSALS)
def test_json_patches_that_do_not_fit(patch: object, want: int) -> None:
    obj = {"a": 1}
    with pytest.raises(ApiError) as caught:
        json_patch(obj, patch)
    assert caught.value.code == want
    assert obj == {"a": 1}


def test_a_place_that_is_not_there_is_told_without_the_whole_object() -> None:
    with pytest.raises(ApiError) as caught:
        json_patch({"spec": {"replicas": 1}}, [{"op": "add", "path": "/spec/no/a", "value": 1}])
    assert str(caught.value) == "the patch cannot be applied: member 'no' not found"
