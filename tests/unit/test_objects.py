"""Objects of any shape are looked into without raising."""

from __future__ import annotations

import pytest

from evencore.domain.objects import items_of, map_at, maps_at, text_at

ODD = [None, 3, "text", [], [{"a": {}}], {}, {"b": {"c": 1}}, {"a": None}, {"a": 3}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_what_is_not_there_is_empty(value: object) -> None:
    assert (map_at(value, "a"), maps_at(value, "a"), text_at(value, "a")) == ({}, [], "")


def test_what_is_there_is_given_as_far_as_it_has_the_shape() -> None:
    assert map_at({"a": {"b": 1}}, "a") == {"b": 1}
    assert maps_at({"a": [{"b": 1}, 3, None, {}]}, "a") == [{"b": 1}, {}]
    assert text_at({"a": "x"}, "a") == "x"


@pytest.mark.parametrize(
    ("document", "items"),
    [
        pytest.param({"kind": "Pod"}, [{"kind": "Pod"}], id="one object"),
        pytest.param([{"kind": "A"}, [{"kind": "B"}]], [{"kind": "A"}, {"kind": "B"}], id="lists"),
        pytest.param({"kind": "List", "items": [{"kind": "A"}, 3]}, [{"kind": "A"}, 3], id="List"),
        pytest.param({"kind": "PodList", "items": [{}]}, [{"kind": "Pod"}], id="a typed list"),
        pytest.param({"kind": "PodList", "items": 3}, [{"kind": "PodList", "items": 3}], id="odd"),
    ],
)
def test_what_a_document_holds_comes_in_its_order(document: object, items: list[object]) -> None:
    assert list(items_of(document)) == items
