"""The garbage collector: what happens to objects whose owners go.

For: deleting dependents in the background, before the owner (foreground), or setting them free
(orphan), and objects whose owner never was.
Not for: deciding who owns what; controllers write ownerReferences.

Kubernetes rules: an object goes when none of its owners is left; of several owners the absent
ones are struck out. Foreground waits for dependents that say blockOwnerDeletion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.objects import dig
from simulator.piecemeal import piecemeal
from simulator.store.deletion import FOREGROUND, ORPHAN, Options
from simulator.store.table import ADDED, DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulator.objects import Key, Object
    from simulator.resources import Resource
    from simulator.store.store import Store
    from simulator.store.table import Change

Place = tuple["Resource", "Key"]


class Collector:
    """Follows the tables of the store; works when the clock says so, never within a write."""

    def __init__(self, store: Store, resources: Iterable[Resource]) -> None:
        self._store = store
        self._living: dict[str, Place] = {}
        self._planned: set[str] = set()  # owners whose dependents are or will be seen to
        self._dependents: dict[str, dict[str, Place]] = {}  # owner's uid → own uid → place
        for one in {one.storage: one for one in resources}.values():
            store.table(one).listen(lambda change, it=one: self._note(it, change))  # type: ignore[misc]  # mypy cannot see a default's type

    def _note(self, resource: Resource, change: Change) -> None:
        obj = change.record.object
        uid, place = obj["metadata"]["uid"], (resource, change.record.key)
        if change.previous is not None:
            for owner in _owners(change.previous.object):
                self._dependents.get(owner["uid"], {}).pop(uid, None)
        if change.type == DELETED:
            self._living.pop(uid, None)
            if self._dependents.get(uid):
                self._soon_release(uid)
            for owner in _owners(obj):
                self._soon_progress(owner["uid"])
            return
        self._living[uid] = place
        for owner in _owners(obj):
            self._dependents.setdefault(owner["uid"], {})[uid] = place
            if change.type == ADDED and owner["uid"] not in self._living:
                self._soon_release(owner["uid"])
        self._soon_progress(uid)

    def _soon_release(self, uid: str) -> None:
        self._store.clock.after(0, lambda: self._release(uid))

    def _soon_progress(self, uid: str) -> None:
        obj = self._object(self._living.get(uid))
        # Once for all of its dependents that went: each look is at all that are left.
        if obj is not None and _waits(obj) and uid not in self._planned:
            self._planned.add(uid)
            self._store.clock.after(0, lambda: self._progress(uid))

    def _release(self, gone: str) -> None:
        """Delete those who had only this owner; strike it out where there are others."""

        def forget() -> None:
            if not self._dependents.get(gone):
                self._dependents.pop(gone, None)

        places = list(self._dependents.get(gone, {}).values())
        piecemeal(
            self._store.clock, places, lambda place: self._part(place, gone, Options()), forget
        )

    def _progress(self, uid: str) -> None:
        """Go on with an owner that waits for its dependents."""
        place = self._living.get(uid)
        obj = self._object(place)
        if place is None or obj is None or not _waits(obj):
            self._planned.discard(uid)
            return
        dependents = list(self._dependents.get(uid, {}).values())
        if ORPHAN in obj["metadata"]["finalizers"]:
            piecemeal(
                self._store.clock,
                dependents,
                lambda dependent: self._strike_out(dependent, {uid}),
                lambda: self._finish(uid, place, ORPHAN),
            )
            return

        def part(dependent: Place) -> None:
            its_uid = dig(self._object(dependent), "metadata", "uid")
            deep = "Foreground" if self._dependents.get(its_uid) else None
            self._part(dependent, uid, Options(propagation=deep))

        piecemeal(self._store.clock, dependents, part, lambda: self._finish(uid, place, FOREGROUND))

    def _finish(self, uid: str, place: Place, finalizer: str) -> None:
        """Let an owner go, unless a dependent that is still there blocks that."""
        self._planned.discard(uid)
        left = self._dependents.get(uid, {}).values()
        if finalizer == ORPHAN or not any(self._blocks(dependent, uid) for dependent in left):
            self._drop_finalizer(place, finalizer)

    def _part(self, place: Place, owner: str, options: Options) -> None:
        """Part a dependent from an owner that goes: it goes as well unless it has another."""
        obj = self._object(place)
        if obj is None or "deletionTimestamp" in obj["metadata"]:
            return
        gone = {ref["uid"] for ref in _owners(obj) if ref["uid"] not in self._living} | {owner}
        if any(ref["uid"] not in gone for ref in _owners(obj)):
            self._strike_out(place, gone)
        elif any(ref["uid"] == owner for ref in _owners(obj)):
            self._store.delete(place[0], *place[1], options._replace(uid=obj["metadata"]["uid"]))

    def _strike_out(self, place: Place, owners: set[str]) -> None:
        obj = self._object(place)
        if obj is None:
            return
        left = [ref for ref in _owners(obj) if ref["uid"] not in owners]
        self._write(place, obj, "ownerReferences", left)

    def _drop_finalizer(self, place: Place, name: str) -> None:
        obj = self._object(place)
        if obj is not None:
            left = [one for one in obj["metadata"].get("finalizers") or () if one != name]
            self._write(place, obj, "finalizers", left)

    def _write(self, place: Place, obj: Object, part: str, value: Sequence[object]) -> None:
        metadata = {**obj["metadata"], part: value}
        if not value:
            del metadata[part]
        self._store.update(place[0], *place[1], {**obj, "metadata": metadata})

    def _blocks(self, place: Place, owner: str) -> bool:
        refs = _owners(self._object(place) or {})
        return any(ref["uid"] == owner and ref.get("blockOwnerDeletion") for ref in refs)

    def _object(self, place: Place | None) -> Object | None:
        record = self._store.table(place[0]).get(place[1]) if place else None
        return record.object if record else None


def _owners(obj: Object) -> list[Object]:
    return dig(obj, "metadata", "ownerReferences") or []


def _waits(obj: Object) -> bool:
    """Tell whether an object is being deleted and waits for the collector."""
    metadata = obj["metadata"]
    finalizers = metadata.get("finalizers") or ()
    return "deletionTimestamp" in metadata and (ORPHAN in finalizers or FOREGROUND in finalizers)
