"""What we read of objects, from any value at all, and what is told of the rest."""

from __future__ import annotations

from typing import Any

import pytest
from builders import pod

from evencore.domain.lenient import read
from evencore.domain.views import PodView


@pytest.mark.parametrize(
    ("owners", "want"),
    [
        pytest.param(pod(), None, id="no owner"),
        pytest.param(pod().owner("a"), "a", id="a controller"),
        pytest.param(pod().owner("a", controller=False), None, id="an owner in name only"),
        pytest.param(pod().owner("a", controller=False).owner("b"), "b", id="both"),
        pytest.param(pod().metadata(ownerReferences=None), None, id="null"),
        pytest.param(
            pod().metadata(ownerReferences=[{"uid": "a", "controller": "true"}]), None, id="as text"
        ),
    ],
)
def test_the_controller_is_the_owner_that_says_so(owners: Any, want: str | None) -> None:  # noqa: ANN401  a builder
    found = owners.view.controller
    assert (found.uid if found else None) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(None, "the object is not an object", id="null"),
        pytest.param([], "the object is not an object", id="a list"),
        pytest.param({"spec": []}, "spec is not an object", id="a list for an object"),
        pytest.param({"spec": {"containers": {}}}, "spec.containers is not a list", id="no list"),
        pytest.param(
            {"spec": {"containers": [{}, None]}},
            "spec.containers[1] is not an object",
            id="a null in a list",
        ),
        pytest.param({"spec": {"nodeName": 5}}, "spec.nodeName is not text", id="no text"),
        pytest.param(
            {"metadata": {"annotations": {"a": 1}}},
            "metadata.annotations['a'] is not text",
            id="a number for an annotation",
        ),
        pytest.param(
            {"metadata": {"labels": {"ü\n": None}}},
            r"metadata.labels['\xfc\n'] is not text",
            id="the key shown safely",
        ),
        pytest.param(
            {"metadata": {"labels": "x"}}, "metadata.labels is not a map", id="text for a map"
        ),
    ],
)
def test_what_cannot_be_read_is_named(value: Any, want: str) -> None:  # noqa: ANN401  any JSON
    _, problems = read(PodView, value)
    assert problems == (want,)


def test_the_rest_of_an_odd_object_is_read() -> None:
    value = {"metadata": {"labels": {"a": 1, "b": "x"}}, "spec": {"containers": [1, {"name": "c"}]}}
    view, problems = read(PodView, value)
    assert len(problems) == 2
    assert view.meta.labels == {"b": "x"}
    assert view.spec is not None
    assert [c.name for c in view.spec.containers or ()] == ["c"]


def test_null_and_missing_are_the_same() -> None:
    assert read(PodView, {"spec": None, "metadata": {"labels": None}})[0].meta.labels is None


def test_quantities_are_left_to_those_who_can_name_a_wrong_one() -> None:
    limits = {"cpu": ["odd"], "memory": None}
    value = {"spec": {"containers": [{"resources": {"limits": limits}}]}}
    view, problems = read(PodView, value)
    assert problems == ()
    assert view.spec is not None
    assert view.spec.containers is not None
    resources = view.spec.containers[0].resources
    assert resources is not None
    assert resources.limits == limits


def test_unknown_fields_are_ignored() -> None:
    assert read(PodView, {"spec": {"later": [object]}, "status": {"new": 1}})[1] == ()
