"""Versions, names, concurrency, deletion and history of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulator_support import config_map, pod, still_store

from simulator.errors import ApiError
from simulator.resources import CONFIG_MAPS, DEPLOYMENTS, LEASES, PODS
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from simulator.store.store import Store


def names(store: Store, version: int | None = None) -> list[str]:
    table = store.table(CONFIG_MAPS)
    found = table.records() if version is None else table.records_at(version)
    return [
        record.object["metadata"]["name"] + record.object["data"].get("x", "") for record in found
    ]


def refused(code: int, text: str) -> pytest.RaisesExc[ApiError]:
    return pytest.raises(ApiError, match=text, check=lambda error: error.code == code)


def test_a_new_object_gets_what_only_the_server_may_write() -> None:
    store = still_store()
    wrong = {"uid": "mine", "resourceVersion": "9", "generation": 7, "deletionTimestamp": "x"}
    obj = pod()
    obj["metadata"] |= wrong
    metadata = store.create(PODS, "default", obj).object["metadata"]
    assert metadata["creationTimestamp"] == "2027-01-15T08:00:00Z"
    assert metadata["generation"] == 1
    assert metadata["resourceVersion"] == str(store.version)
    assert metadata["uid"] != "mine"
    assert "deletionTimestamp" not in metadata
    assert obj["metadata"]["uid"] == "mine", "what was handed in is not touched"


def test_a_name_is_generated_whole_even_from_a_long_beginning() -> None:
    store = still_store()
    obj = pod()
    obj["metadata"] = {"generateName": "x" * 70 + "-"}
    made = {store.create(PODS, "default", obj).key[1] for _ in range(50)}
    assert {len(name) for name in made} == {63}
    assert len(made) == 50


def test_names_are_taken_per_namespace() -> None:
    store = still_store()
    store.create(CONFIG_MAPS, "a", config_map())
    store.create(CONFIG_MAPS, "b", config_map())
    with refused(409, 'configmaps "c" already exists'):
        store.create(CONFIG_MAPS, "a", config_map())
    with refused(422, "name or generateName is required"):
        store.create(CONFIG_MAPS, "a", {"metadata": {}})


def test_an_update_from_an_old_version_is_a_conflict_and_one_without_version_is_not() -> None:
    store = still_store()
    first = store.create(CONFIG_MAPS, "default", config_map()).object
    store.update(CONFIG_MAPS, "default", "c", {**first, "data": {"x": "1"}})
    with refused(409, "the object has been modified"):
        store.update(CONFIG_MAPS, "default", "c", {**first, "data": {"x": "2"}})
    store.update(CONFIG_MAPS, "default", "c", config_map(x="3"))
    assert names(store) == ["c3"]
    with refused(409, "UID in precondition: other"):
        store.update(CONFIG_MAPS, "default", "c", {"metadata": {"uid": "other"}})


def test_an_update_that_changes_nothing_makes_no_version_and_no_event() -> None:
    store = still_store()
    made = store.create(CONFIG_MAPS, "default", config_map()).object
    before, told = store.version, []
    store.table(CONFIG_MAPS).listen(told.append)
    store.update(CONFIG_MAPS, "default", "c", made)
    assert (store.version, told) == (before, [])


def test_generation_counts_changes_of_the_spec_only_and_only_where_there_is_one() -> None:
    store = still_store()
    obj = {"metadata": {"name": "d"}, "spec": {"replicas": 1}}
    for content in ({}, {"status": {"replicas": 1}}, {"spec": {"replicas": 2}}):
        obj = {**obj, **content}
        kept = store.table(DEPLOYMENTS).get(("n", "d"))
        write = store.update if kept else None
        made = write(DEPLOYMENTS, "n", "d", obj) if write else store.create(DEPLOYMENTS, "n", obj)
    assert made.object["metadata"]["generation"] == 2
    lease = store.create(LEASES, "n", {"metadata": {"name": "l", "generation": 4}, "spec": {}})
    assert "generation" not in lease.object["metadata"]


def test_a_dry_run_leaves_no_trace() -> None:
    store = still_store()
    kept = store.create(CONFIG_MAPS, "default", config_map()).object
    before = store.version
    store.create(CONFIG_MAPS, "default", config_map("other"), dry_run=True)
    changed = store.update(CONFIG_MAPS, "default", "c", config_map(x="1"), dry_run=True)
    store.delete(CONFIG_MAPS, "default", "c", dry_run=True)
    assert changed.object["data"] == {"x": "1"}
    assert (store.version, store.get(CONFIG_MAPS, "default", "c").object) == (before, kept)
    assert len(store.table(CONFIG_MAPS)) == 1


def test_a_delete_meant_for_another_object_is_a_conflict() -> None:
    store = still_store()
    store.create(CONFIG_MAPS, "default", config_map())
    with refused(409, "UID in precondition: other"):
        store.delete(CONFIG_MAPS, "default", "c", Options(uid="other"))
    with refused(409, "ResourceVersion in the precondition"):
        store.delete(CONFIG_MAPS, "default", "c", Options(version="1"))
    with refused(404, 'configmaps "x" not found'):
        store.delete(CONFIG_MAPS, "default", "x")


def test_finalizers_hold_an_object_until_the_last_is_gone() -> None:
    store = still_store()
    obj = config_map()
    obj["metadata"]["finalizers"] = ["a/b"]
    store.create(CONFIG_MAPS, "default", obj)
    left, gone = store.delete(CONFIG_MAPS, "default", "c")
    assert not gone
    assert left.object["metadata"]["deletionTimestamp"] == "2027-01-15T08:00:00Z"
    free = {**left.object, "metadata": {**left.object["metadata"], "finalizers": []}}
    store.update(CONFIG_MAPS, "default", "c", free)
    assert names(store) == []


GRACE = {
    "no kubelet has it": ({}, {}, None, None),
    "its own grace": ({"nodeName": "n", "terminationGracePeriodSeconds": 7}, {}, None, 7),
    "the default": ({"nodeName": "n"}, {}, None, 30),
    "as asked": ({"nodeName": "n"}, {}, 3, 3),
    "at once, by force": ({"nodeName": "n"}, {}, 0, None),
    "it has ended": ({"nodeName": "n"}, {"phase": "Failed"}, None, None),
}


@pytest.mark.parametrize(("spec", "status", "asked", "want"), GRACE.values(), ids=GRACE)
def test_pods_are_given_grace(
    spec: dict[str, object], status: dict[str, str], asked: int | None, want: int | None
) -> None:
    store = still_store()
    store.create(PODS, "default", {**pod(**spec), "status": status})
    left, gone = store.delete(PODS, "default", "p", Options(grace_s=asked))
    assert gone is (want is None)
    assert left.object["metadata"].get("deletionGracePeriodSeconds") == want


def test_grace_can_be_shortened_and_not_lengthened() -> None:
    store = still_store()
    store.create(PODS, "default", pod(nodeName="n"))
    for asked, want in ((20, 20), (25, 20), (5, 5)):
        left, _ = store.delete(PODS, "default", "p", Options(grace_s=asked))
        assert left.object["metadata"]["deletionGracePeriodSeconds"] == want
    assert left.object["metadata"]["deletionTimestamp"] == "2027-01-15T08:00:05Z"
    assert store.delete(PODS, "default", "p", Options(grace_s=0))[1]


def test_the_past_can_be_read_as_it_was() -> None:
    store = still_store()
    for name in ("b", "a", "c"):
        store.create(CONFIG_MAPS, "default", config_map(name))
    then = store.version
    store.update(CONFIG_MAPS, "default", "a", config_map("a", x="1"))
    store.delete(CONFIG_MAPS, "default", "b")
    store.create(CONFIG_MAPS, "default", config_map("d"))
    store.create(CONFIG_MAPS, "default", config_map("b", x="2"))
    assert names(store, then) == ["a", "b", "c"]
    assert names(store) == ["a1", "b2", "c", "d"]
    assert [change.type for change in store.table(CONFIG_MAPS).since(then)] == [
        "MODIFIED",
        "DELETED",
        "ADDED",
        "ADDED",
    ]


def test_the_past_is_bounded_and_the_table_knows_what_it_forgot() -> None:
    store = still_store(history=2)
    for name in ("a", "b", "c"):
        store.create(CONFIG_MAPS, "default", config_map(name))
    table = store.table(CONFIG_MAPS)
    assert table.forgotten == store.version - 2
    assert len(table.since(table.forgotten)) == 2


def test_a_namespace_is_read_from_its_own_first_to_its_own_last_object() -> None:
    store = still_store()
    for namespace in ("a", "b", "bb", "c"):
        for name in ("x", "y"):
            store.create(CONFIG_MAPS, namespace, config_map(name))
    table = store.table(CONFIG_MAPS)
    assert [one.key for one in table.records("b")] == [("b", "x"), ("b", "y")]
    assert [one.key for one in table.records("b", ("b", "x"))] == [("b", "y")]
    assert len(list(table.records(after=("b", "y")))) == 4
