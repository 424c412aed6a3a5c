"""What becomes of objects whose owners go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator_support import collected_store, config_map, owned

from simulator.namespaces import Namespaces, new
from simulator.resources import ALL, CONFIG_MAPS, NAMESPACES
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from simulator.store.store import Store


def make(
    store: Store, name: str, *owners: dict[str, object], block: bool = False
) -> dict[str, object]:
    obj = owned(config_map(name), *owners, block=block)
    return store.create(CONFIG_MAPS, "default", obj).object


def left(store: Store) -> list[str]:
    store.clock.run_due()
    return [record.key[1] for record in store.table(CONFIG_MAPS).records()]


def test_dependents_follow_their_owner_to_the_last_generation() -> None:
    store = collected_store()
    root = make(store, "root")
    make(store, "leaf", make(store, "branch", root))
    make(store, "stranger")
    store.delete(CONFIG_MAPS, "default", "root")
    assert left(store) == ["stranger"]


def test_an_object_with_another_owner_stays_and_forgets_the_one_that_went() -> None:
    store = collected_store()
    one, two = make(store, "one"), make(store, "two")
    make(store, "child", one, two)
    store.delete(CONFIG_MAPS, "default", "one")
    assert left(store) == ["child", "two"]
    child = store.get(CONFIG_MAPS, "default", "child").object
    assert [ref["name"] for ref in child["metadata"]["ownerReferences"]] == ["two"]
    store.delete(CONFIG_MAPS, "default", "two")
    assert left(store) == []


def test_orphans_stay_and_have_no_owner_any_more() -> None:
    store = collected_store()
    make(store, "child", make(store, "owner"))
    _, gone = store.delete(CONFIG_MAPS, "default", "owner", Options(propagation="Orphan"))
    assert not gone
    assert left(store) == ["child"]
    child = store.get(CONFIG_MAPS, "default", "child").object
    assert "ownerReferences" not in child["metadata"]


def test_in_the_foreground_the_owner_waits_for_dependents_that_block() -> None:
    store = collected_store()
    owner = make(store, "owner")
    held = owned(config_map("held"), owner, block=True)
    held["metadata"]["finalizers"] = ["a/b"]
    store.create(CONFIG_MAPS, "default", held)
    make(store, "free", owner)
    store.delete(CONFIG_MAPS, "default", "owner", Options(propagation="Foreground"))
    assert left(store) == ["held", "owner"]
    waiting = store.get(CONFIG_MAPS, "default", "held").object
    freed = {**waiting, "metadata": {**waiting["metadata"], "finalizers": []}}
    store.update(CONFIG_MAPS, "default", "held", freed)
    assert left(store) == []


def test_the_child_of_an_owner_that_never_was_is_collected() -> None:
    store = collected_store()
    ghost = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "no"}}
    make(store, "child", ghost)
    assert left(store) == []


def test_a_namespace_is_furnished_and_emptied_before_it_goes() -> None:
    store = collected_store()
    Namespaces(store, ALL, "CA")
    store.create(NAMESPACES, "", new("default"))
    held = config_map("held")
    held["metadata"]["finalizers"] = ["a/b"]
    store.create(CONFIG_MAPS, "default", held)
    assert left(store) == ["held", "kube-root-ca.crt"]
    store.delete(NAMESPACES, "", "default")
    assert left(store) == ["held"]
    going = store.get(NAMESPACES, "", "default").object
    assert going["status"]["phase"] == "Terminating"
    waiting = store.get(CONFIG_MAPS, "default", "held").object
    freed = {**waiting, "metadata": {**waiting["metadata"], "finalizers": []}}
    store.update(CONFIG_MAPS, "default", "held", freed)
    assert left(store) == []
    assert len(store.table(NAMESPACES)) == 0
