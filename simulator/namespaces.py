"""What a cluster does for namespaces: furnish new ones, empty those that are deleted.

Kubernetes rules: each namespace gets a service account `default` and the ConfigMap
`kube-root-ca.crt`; one that is deleted stays Terminating until nothing is left in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.piecemeal import piecemeal
from simulator.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from simulator.store.table import ADDED, DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Key
    from simulator.resources import Resource
    from simulator.store.store import Store
    from simulator.store.table import Change

FIRST: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
"""Those that every cluster has."""


class Namespaces:
    """Follows the namespaces of the store, and their content while they are Terminating."""

    def __init__(self, store: Store, resources: Iterable[Resource], ca: str) -> None:
        self._store, self._ca = store, ca
        self._content = [
            one for one in {one.storage: one for one in resources}.values() if one.namespaced
        ]
        store.table(NAMESPACES).listen(self._note)
        for one in self._content:
            store.table(one).listen(self._note_content)

    def make_first(self) -> None:
        """Make the namespaces that every cluster has."""
        for name in FIRST:
            self._store.create(NAMESPACES, "", new(name))

    def _note(self, change: Change) -> None:
        name = change.record.key[1]
        if change.type == ADDED:
            self._furnish(name)
        elif "deletionTimestamp" in change.record.object["metadata"] and change.type != DELETED:
            self._store.clock.after(0, lambda: self._empty(name))

    def _note_content(self, change: Change) -> None:
        name = change.record.key[0]
        if change.type == ADDED and self._is_going(name):
            self._store.clock.after(0, lambda: self._empty(name))
        elif change.type == DELETED and self._is_going(name) and self._is_empty(name):
            self._store.clock.after(0, lambda: self._let_go(name))

    def _is_going(self, name: str) -> bool:
        record = self._store.table(NAMESPACES).get(("", name))
        return record is not None and "deletionTimestamp" in record.object["metadata"]

    def _furnish(self, name: str) -> None:
        account = {"metadata": {"name": "default"}}
        self._store.create(SERVICE_ACCOUNTS, name, _typed(SERVICE_ACCOUNTS) | account)
        root = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": self._ca}}
        self._store.create(CONFIG_MAPS, name, _typed(CONFIG_MAPS) | root)

    def _empty(self, name: str) -> None:
        """Delete what is there; when nothing is left, let the namespace go."""
        places = [
            (resource, record.key)
            for resource in self._content
            for record in self._store.table(resource).records(name)
        ]
        piecemeal(self._store.clock, places, self._delete, lambda: self._let_go(name))

    def _delete(self, place: tuple[Resource, Key]) -> None:
        resource, key = place
        record = self._store.table(resource).get(key)
        if record is not None and "deletionTimestamp" not in record.object["metadata"]:
            self._store.delete(resource, *key)

    def _is_empty(self, name: str) -> bool:
        return not any(self._store.table(resource).has(name) for resource in self._content)

    def _let_go(self, name: str) -> None:
        if self._is_going(name) and self._is_empty(name):
            record = self._store.get(NAMESPACES, "", name)
            self._store.update(NAMESPACES, "", name, {**record.object, "spec": {}})


def new(name: str) -> dict[str, object]:
    """Make a namespace as the API server's defaults have it."""
    return {
        **_typed(NAMESPACES),
        "metadata": _labelled(name),
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def _labelled(name: str) -> dict[str, object]:
    return {"name": name, "labels": {"kubernetes.io/metadata.name": name}}


def _typed(resource: Resource) -> dict[str, object]:
    return {"apiVersion": resource.api_version, "kind": resource.kind}
