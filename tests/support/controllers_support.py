"""A still cluster for the tests of the controllers: API server unstarted, a stand-in for kubelets.

The stand-in binds each pod and then rejects or runs it, after fixed times on the virtual clock.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.clock import Clock, timestamp
from simulator.controllers import start
from simulator.objects import dig
from simulator.resources import EVENTS, NODES, PODS
from simulator.server import ApiServer, Options
from simulator.store.deletion import Options as DeleteOptions
from simulator.store.table import ADDED, DELETED

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from simulator.admission.chain import Plugin
    from simulator.resources import Resource
    from simulator.store.table import Change

Object = dict[str, Any]

# From a pod's creation to its binding and from there to the kubelet's verdict; the control plane
# that was measured took about as long when nothing waited for a token.
BIND_S = 0.010
VERDICT_S = 0.020

# Where pods go that name no node; tainted, so that no DaemonSet wants to go there.
WORKER = "worker"

MESSAGE = "Pod was rejected: Resources cannot be allocated with Topology locality"


class StandIn:
    """Binds pods and decides about them; `admits` says which of them run."""

    def __init__(self, still: Still) -> None:
        self._still, self._store = still, still.store
        self.admits: Callable[[Object], bool] = lambda _: False
        self.node = WORKER
        self.rejections: list[float] = []
        self._store.table(PODS).listen(self._note)

    def _note(self, change: Change) -> None:
        pod, key = change.record.object, change.record.key
        uid, clock = pod["metadata"]["uid"], self._store.clock
        if change.type == ADDED and not pod["spec"].get("schedulingGates"):
            clock.after(BIND_S, lambda: self._bind(key, uid))
        elif change.type != DELETED and "deletionTimestamp" in pod["metadata"]:
            over = DeleteOptions(grace_s=0, uid=uid)
            clock.after(VERDICT_S, lambda: self._alive(key, uid) and self._delete(key, over))

    def _delete(self, key: tuple[str, str], options: DeleteOptions) -> None:
        self._store.delete(PODS, *key, options)

    def _alive(self, key: tuple[str, str], uid: str) -> Object | None:
        record = self._store.table(PODS).get(key)
        same = record is not None and record.object["metadata"]["uid"] == uid
        return record.object if record and same else None

    def _bind(self, key: tuple[str, str], uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        spec = {**pod["spec"], "nodeName": _wanted_node(pod) or self.node}
        self._store.update(PODS, *key, {**pod, "spec": spec}, counts=False)
        self._store.clock.after(VERDICT_S, lambda: self._decide(key, uid))

    def _decide(self, key: tuple[str, str], uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        if self.admits(pod):
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": self._still.stamp()}
            status = {**pod["status"], "phase": "Running", "conditions": [ready]}
        else:
            self.rejections.append(self._store.clock.now())
            status = {
                "phase": "Failed",
                "reason": "TopologyAffinityError",
                "message": MESSAGE,
                "qosClass": pod["status"]["qosClass"],
                "startTime": self._still.stamp(),
            }
        self._store.update(PODS, *key, {**pod, "status": status})


def _wanted_node(pod: Object) -> str:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = dig(pod, "spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms")
    fields = terms[0].get("matchFields") if terms else None
    return fields[0]["values"][0] if fields else ""


class Still:
    """Store, writes and controllers on a virtual clock, all in the test's own thread."""

    def __init__(self, *validating: Plugin) -> None:
        options = Options(clock=Clock.virtual(), secure=False, validating=validating)
        self.server = ApiServer(options)
        self.store, self.writes = self.server.store, self.server.writes
        self.kubelets = StandIn(self)
        self.node(WORKER, taints=[{"key": "worker", "effect": "NoSchedule"}])
        self.background = start(self.store, self.writes)

    def stamp(self) -> str:
        return timestamp(self.store.clock.now())

    async def make(self, resource: Resource, name: str, **spec: object) -> Object:
        obj = {"metadata": {"name": name}, "spec": spec}
        return (await self.writes.create(Target(resource, "default"), obj, Call())).object

    async def change(self, resource: Resource, name: str, **spec: object) -> None:
        await self.writes.update(
            Target(resource, "default", name),
            lambda obj: {**obj, "spec": {**obj["spec"], **spec}},
            Call(),
        )

    def get(self, resource: Resource, name: str) -> Object:
        return self.store.get(resource, "default", name).object

    def pods(self, phase: str = "") -> list[Object]:
        found = (record.object for record in self.store.table(PODS).records("default"))
        return [pod for pod in found if phase in ("", pod["status"]["phase"])]

    def events(self, reason: str = "") -> list[Object]:
        found = (record.object for record in self.store.table(EVENTS).records("default"))
        return [event for event in found if reason in ("", event["reason"])]

    def node(self, name: str, **spec: object) -> None:
        ready = [{"type": "Ready", "status": "True"}]
        obj = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}
        self.store.create(NODES, "", {**obj, "status": {"conditions": ready}})

    async def rejected_a_minute(self) -> float:
        """Give the pace once the burst of tokens is spent."""
        await self.background.advance(10)
        before = len(self.kubelets.rejections)
        await self.background.advance(30)
        return 2.0 * (len(self.kubelets.rejections) - before)

    def gaps(self) -> list[float]:
        times = self.kubelets.rejections
        return [round(b - a, 1) for a, b in pairwise(times)]


def play(story: Callable[[Still], Coroutine[Any, Any, None]], *validating: Plugin) -> None:
    """Run a test that is a coroutine; `validating` plug-ins see what is about to be stored."""

    async def run() -> None:
        await story(Still(*validating))

    asyncio.run(run())


def template(app: str, /, **spec: object) -> Object:
    """Make a pod template of 27 CPUs, which no node can align."""
    amounts = {"cpu": "27", "memory": "1Gi"}
    container = {
        "name": "app",
        "image": "registry.example/app:1",
        "resources": {"limits": amounts, "requests": amounts},
    }
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def selecting(app: str) -> Object:
    """Make the spec of a workload that selects by app."""
    return {"selector": {"matchLabels": {"app": app}}, "template": template(app)}
