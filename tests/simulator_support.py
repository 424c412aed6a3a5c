"""What the tests of the pocket cluster share: small objects and a store whose time stands still."""

from __future__ import annotations

from typing import Any

from simulator import resources
from simulator.chance import Chance
from simulator.clock import Clock
from simulator.store.collector import Collector
from simulator.store.store import Store

Object = dict[str, Any]


def still_store(*, history: int = 1000) -> Store:
    return Store(Clock.virtual(), Chance(1), history=history)


def collected_store() -> Store:
    store = still_store()
    Collector(store, resources.ALL)
    return store


def pod(name: str = "p", **spec: object) -> Object:
    containers = [{"name": "app", "image": "registry.example/app:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
    }


def config_map(name: str = "c", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


def owned(obj: Object, *owners: Object, block: bool = False) -> Object:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": block,
        }
        for owner in owners
    ]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}
