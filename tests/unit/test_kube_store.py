"""What readers see while a reflector writes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from evencore.kube.store import Store


class Item(msgspec.Struct, frozen=True, gc=False):
    """Anything that can be compared."""

    value: int


def _store() -> tuple[Store[Item], list[tuple[str, Any, Any]]]:
    told: list[tuple[str, Any, Any]] = []
    return Store[Item](lambda *change: told.append(change)), told


def test_every_change_is_told_once_with_what_was_and_what_is() -> None:
    store, told = _store()
    store.upsert("a", Item(1))
    store.upsert("a", Item(2))
    store.delete("a")
    assert told == [("a", None, Item(1)), ("a", Item(1), Item(2)), ("a", Item(2), None)]


def test_an_equal_object_is_no_change_and_the_view_stays_the_same_object() -> None:
    store, told = _store()
    store.upsert("a", Item(1))
    view, kept = store.view(), store.view()["a"]
    store.upsert("a", Item(1))
    store.replace({"a": Item(1)})
    store.delete("unknown")
    assert len(told) == 1
    assert store.view() is view
    assert store.view()["a"] is kept


def test_a_list_tells_of_what_vanished_what_changed_and_what_came() -> None:
    store, told = _store()
    store.replace({"gone": Item(1), "same": Item(2), "other": Item(3)})
    same = store.view()["same"]
    told.clear()
    store.replace({"same": Item(2), "other": Item(4), "new": Item(5)})
    assert sorted(told, key=str) == [
        ("gone", Item(1), None),
        ("new", None, Item(5)),
        ("other", Item(3), Item(4)),
    ]
    assert dict(store.view()) == {"same": Item(2), "other": Item(4), "new": Item(5)}
    assert store.view()["same"] is same


def test_a_view_never_changes_and_cannot_be_changed() -> None:
    store, _ = _store()
    store.upsert("a", Item(1))
    view = store.view()
    for _ in view:
        store.upsert("b", Item(2))
        store.delete("a")
        store.replace({})
    assert dict(view) == {"a": Item(1)}
    with pytest.raises(TypeError):
        view["c"] = Item(3)  # type: ignore[index]  # that is the point
    assert dict(store.view()) == {}


def test_a_change_is_seen_in_the_view_by_whoever_is_told_of_it() -> None:
    seen: list[dict[str, Item]] = []
    store = Store[Item](lambda *_: seen.append(dict(store.view())))
    store.upsert("a", Item(1))
    store.replace({"b": Item(2)})
    assert seen == [{"a": Item(1)}, {"b": Item(2)}, {"b": Item(2)}]
