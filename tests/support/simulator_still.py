"""A cluster without a server: a store on a virtual clock, and the write path, all in this thread.

For: scheduler and kubelets, moved by hand and without waiting. Not for: the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from simulator_support import pod, still_store

from simulator.api.routing import Target
from simulator.api.writes import Call, Writes
from simulator.objects import copy
from simulator.resources import EVENTS, NODES, PODS
from simulator.store.deletion import Options
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from simulator.store.table import Change

Object = dict[str, Any]
T = TypeVar("T")


def done(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    raise AssertionError("it waits for something")


def node(name: str = "n1", /, *, cpu: str = "8", pods: str = "110", **spec: object) -> Object:
    labels = {"kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": dict(spec),
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": pods}},
    }


def cpus(amount: str, **spec: object) -> Object:
    """Spec of a Guaranteed pod of one container."""
    resources = {"limits": {"cpu": amount, "memory": "1Gi"}}
    return {"containers": [{"name": "app", "image": "x:1", "resources": resources}], **spec}


class Still:
    """The store with what tests do to it; `seconds` pass only in `run`."""

    def __init__(self) -> None:
        self.store = still_store(history=20_000)
        self.writes = Writes(self.store, (), ())

    def add_node(self, obj: Object) -> None:
        self.store.create(NODES, "", obj)

    def change_node(self, name: str, **parts: Object) -> None:
        obj = copy(self.store.get(NODES, "", name).object)
        for part, value in parts.items():
            obj[part] = {**obj.get(part, {}), **value}
        self.store.update(NODES, "", name, obj)

    def add_pod(
        self, name: str = "p", /, annotations: dict[str, str] | None = None, **spec: object
    ) -> Object:
        """Make a pod and tell how it is now."""
        made = pod(name, **spec)
        made["metadata"]["annotations"] = annotations or {}
        return done(self.writes.create(Target(PODS, "default"), made, Call())).object

    def change_pod(self, name: str, **spec: object) -> None:
        target = Target(PODS, "default", name)
        done(
            self.writes.update(target, lambda obj: {**obj, "spec": {**obj["spec"], **spec}}, Call())
        )

    def end_pod(self, name: str, phase: str = "Failed") -> None:
        target = Target(PODS, "default", name, "status")
        done(self.writes.update(target, lambda obj: {**obj, "status": {"phase": phase}}, Call()))

    def delete_pod(self, name: str, grace: int | None = None) -> None:
        done(self.writes.delete(Target(PODS, "default", name), Options(grace_s=grace), Call()))

    def pod(self, name: str = "p") -> Object:
        return self.store.get(PODS, "default", name).object

    def is_there(self, name: str) -> bool:
        return self.store.table(PODS).get(("default", name)) is not None

    def node_of(self, name: str = "p") -> str:
        return self.pod(name)["spec"].get("nodeName", "")

    def run(self, seconds: float = 0.1) -> None:
        self.store.clock.advance(seconds)

    def events(self, reason: str = "") -> list[Object]:
        found = [record.object for record in self.store.table(EVENTS).records("default")]
        return [one for one in found if not reason or one["reason"] == reason]

    def first_state(self, name: str) -> dict[str, float]:
        """Follow a pod from here on; the moments of its phases turn up in what is returned."""
        seen: dict[str, float] = {}

        def note(change: Change) -> None:
            if change.record.key[1] == name:
                gone = change.type == DELETED
                phase = "gone" if gone else change.record.object["status"]["phase"]
                seen.setdefault(phase, self.store.clock.now())

        self.store.table(PODS).listen(note)
        return seen
