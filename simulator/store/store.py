"""The store: every object of the cluster, one counter of versions, and who may write what when.

For: create, update, delete with the rules that are the same for every kind, and the feed of
changes that watches and controllers live on.
Not for: rules of single kinds, admission, HTTP. Belongs to one thread, like the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import already_exists, not_found
from simulator.store import deletion, metadata
from simulator.store.deletion import Options
from simulator.store.table import Record, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.chance import Chance
    from simulator.clock import Clock
    from simulator.objects import Object
    from simulator.resources import Resource

HISTORY: Final = 20_000
"""Changes remembered per resource; who watches from before them is told 410."""

# A generated name that is taken is made again: rest.Store tries this often since 1.30.
_NAME_TRIES: Final = 8


class Store:
    """The objects, by resource. What it returns must not be changed; copy it first."""

    def __init__(self, clock: Clock, chance: Chance, *, history: int = HISTORY) -> None:
        self.clock, self.chance = clock, chance
        self.version = 1
        """The newest resourceVersion; one counter for everything, as etcd's revision."""
        self._history = history
        self._tables: dict[str, Table] = {}

    def table(self, resource: Resource) -> Table:
        """Give the objects of a resource; the same table for all its versions."""
        table = self._tables.get(resource.storage)
        if table is None:
            table = self._tables[resource.storage] = Table(self._history)
        return table

    def get(self, resource: Resource, namespace: str, name: str) -> Record:
        """Give one object. Raises a 404."""
        record = self.table(resource).get((namespace, name))
        if record is None:
            raise not_found(resource, name)
        return record

    def create(
        self,
        resource: Resource,
        namespace: str,
        obj: Object,
        *,
        finish: Callable[[Object], Object] = lambda obj: obj,
        dry_run: bool = False,
    ) -> Record:
        """Keep a new object. Raises 409 if the name is taken, 422 without a name.

        `finish` is handed the object with its name and uid and may complete or refuse it.
        """
        table, namespace = self.table(resource), namespace if resource.namespaced else ""
        for _ in range(_NAME_TRIES):
            made = metadata.for_create(resource, namespace, obj, self.clock.now(), self.chance)
            key = namespace, made["metadata"]["name"]
            if table.get(key) is None:
                break
            if (obj.get("metadata") or {}).get("name"):
                raise already_exists(resource, key[1])
        else:
            raise already_exists(resource, key[1])
        made = finish(made)
        if dry_run:
            return Record(key, made, self.version)
        return table.put(key, self._versioned(made), self.version)

    def update(  # noqa: PLR0913  the last two have defaults
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: Object,
        *,
        counts: bool = True,
        dry_run: bool = False,
    ) -> Record:
        """Replace an object; nothing happens if nothing changes. Raises 404 and 409.

        `counts`: a changed spec is another generation; a binding is not.

        An object that was only waiting for its last finalizer is gone after it.
        """
        old = self.get(resource, namespace, name)
        new = metadata.for_update(resource, old.object, obj, counts=counts)
        if new == old.object:
            return old
        if dry_run:
            return Record(old.key, new, old.version)
        if deletion.is_over(resource, new):
            return self.table(resource).remove(old.key, self._versioned(new), self.version)
        return self.table(resource).put(old.key, self._versioned(new), self.version)

    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        options: Options = Options(),  # noqa: B008  immutable
        *,
        dry_run: bool = False,
    ) -> tuple[Record, bool]:
        """Delete an object; returns how it is now, and whether it is gone. Raises 404, 409."""
        old = self.get(resource, namespace, name)
        deletion.check_preconditions(resource, old.object, options)
        left = deletion.after_delete(resource, old.object, options, self.clock.now())
        table = self.table(resource)
        if dry_run or left == old.object:
            return old, left is None
        if left is None:
            return table.remove(old.key, self._versioned(old.object), self.version), True
        return table.put(old.key, self._versioned(left), self.version), False

    def _versioned(self, obj: Object) -> Object:
        """Take the next version and write it into the object."""
        self.version += 1
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
