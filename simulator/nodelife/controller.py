"""Follows leases, nodes and pods: taints nodes, doubts the pods of lost ones, evicts some of them.

For: the I/O around `plan`. Kubernetes looks every 5 s; here a timer per node is set anew by each
renewal of its lease, which comes to the same and costs nothing between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.admission.chain import User
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.auth.credentials import of_token
from simulator.clock import timestamp
from simulator.errors import ApiError
from simulator.nodelife import plan
from simulator.objects import dig, key_of
from simulator.recording import Recorder, Told
from simulator.resources import LEASES, NODES, PODS, STATUS
from simulator.store.deletion import Options
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.writes import Writes
    from simulator.clock import Timer
    from simulator.errands import Send
    from simulator.objects import Key, Object
    from simulator.store.store import Store
    from simulator.store.table import Change

_GROUPS: Final = (
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
)
_NAME: Final = "system:serviceaccount:kube-system:node-controller"
NODE_USER: Final = User(_NAME, _GROUPS, credential=of_token(_NAME))
_LEASES_IN: Final = "kube-node-lease"
_ENDED: Final = ("Succeeded", "Failed")


class NodeLife:
    """The two controllers in one: both follow nodes."""

    def __init__(self, store: Store, writes: Writes, send: Send) -> None:
        self._store, self._writes, self._send = store, writes, send
        self._clock = store.clock
        self._evictions = Recorder(writes, store.clock, NODE_USER, "taint-eviction-controller", "")
        self._states = Recorder(writes, store.clock, NODE_USER, "node-controller", "")
        self._silent: dict[str, Timer] = {}
        self._leaving: dict[str, Timer] = {}
        store.table(LEASES).listen(self._note_lease)
        store.table(NODES).listen(self._note_node)
        store.table(PODS).listen(self._note_pod)

    def _note_lease(self, change: Change) -> None:
        namespace, name = change.record.key
        if namespace != _LEASES_IN:
            return
        timer = self._silent.pop(name, None)
        if timer is not None:
            timer.cancel()
        if change.type != DELETED:
            self._silent[name] = self._clock.after(
                plan.SILENT_FOR_S, lambda: self._send(self._say_silent(name))
            )

    def _note_node(self, change: Change) -> None:
        if change.type == DELETED:
            return
        name, node = change.record.key[1], change.record.object
        if plan.with_taints(node, 0.0) != node:
            self._clock.after(0, lambda: self._send(self._taint(name)))
        before = change.previous.object if change.previous is not None else {}
        if dig(before, "spec", "taints") != dig(node, "spec", "taints"):
            self._clock.after(0, lambda: self._look_at_pods(name))

    def _note_pod(self, change: Change) -> None:
        pod = change.record.object
        name, uid = pod["spec"].get("nodeName"), pod["metadata"]["uid"]
        if change.type == DELETED:
            self._stay(uid)
        elif name and (node := self._node(name)) is not None:
            self._look_at(pod, node)

    async def _say_silent(self, name: str) -> None:
        now, node = self._clock.now(), self._node(name)
        await self._change(name, lambda it: plan.fallen_silent(it, now), STATUS)
        if node is None or not plan.is_ready(node):
            return
        text = f"Node {name} status is now: NodeNotReady"
        await self._states.core(node, Told("Normal", "NodeNotReady", text))
        for pod in self._pods_on(name):
            if plan.is_ready(pod):
                await self._say_unready(pod, timestamp(now))

    async def _say_unready(self, pod: Object, now: str) -> None:
        """Kubernetes rule (MarkPodsNotReady): Services and workloads stop counting on the pod."""
        target = Target(PODS, *key_of(pod), STATUS)
        try:
            await self._writes.update(target, lambda it: plan.unready(it, now), Call(NODE_USER))
        except ApiError:
            return  # the pod is gone
        await self._states.core(pod, Told("Warning", "NodeNotReady", "Node is not ready"))

    async def _taint(self, name: str) -> None:
        now = self._clock.now()
        await self._change(name, lambda node: plan.with_taints(node, now))

    async def _change(
        self, name: str, change: Callable[[Object], Object], subresource: str = ""
    ) -> None:
        target = Target(NODES, "", name, subresource)
        try:
            await self._writes.update(target, change, Call(NODE_USER))
        except ApiError:
            return  # the node is gone, or its next change comes through here again

    def _look_at_pods(self, name: str) -> None:
        node = self._node(name)
        if node is None:
            return
        for pod in self._pods_on(name):
            self._look_at(pod, node)

    def _pods_on(self, name: str) -> list[Object]:
        found = (record.object for record in self._store.table(PODS).records())
        return [pod for pod in found if pod["spec"].get("nodeName") == name]

    def _look_at(self, pod: Object, node: Object) -> None:
        metadata = pod["metadata"]
        uid, key = metadata["uid"], (metadata["namespace"], metadata["name"])
        seconds = plan.stays_for(pod, node)
        done = "deletionTimestamp" in metadata or dig(pod, "status", "phase") in _ENDED
        if seconds is None or done:
            self._stay(uid)
        elif uid not in self._leaving:
            self._leaving[uid] = self._clock.after(seconds, lambda: self._evict(key, uid))

    def _stay(self, uid: str) -> None:
        timer = self._leaving.pop(uid, None)
        if timer is not None:
            timer.cancel()

    def _evict(self, key: Key, uid: str) -> None:
        self._leaving.pop(uid, None)
        record = self._store.table(PODS).get(key)
        if record is not None and record.object["metadata"]["uid"] == uid:
            self._send(self._delete(record.object, key, uid))

    async def _delete(self, pod: Object, key: Key, uid: str) -> None:
        """Kubernetes rule (PodDisruptionConditions): first say why, then delete."""
        told = Told("Normal", "TaintManagerEviction", f"Marking for deletion Pod {'/'.join(key)}")
        await self._evictions.core(pod, told)
        now = timestamp(self._clock.now())
        try:
            await self._writes.update(
                Target(PODS, *key, STATUS), lambda it: _disrupted(it, now), Call(NODE_USER)
            )
            await self._writes.delete(Target(PODS, *key), Options(uid=uid), Call(NODE_USER))
        except ApiError:
            return  # somebody else was faster

    def _node(self, name: str) -> Object | None:
        record = self._store.table(NODES).get(("", name))
        return record.object if record is not None else None


def _disrupted(pod: Object, now: str) -> Object:
    conditions = dig(pod, "status", "conditions") or []
    said = {
        "type": "DisruptionTarget",
        "observedGeneration": pod["metadata"].get("generation"),
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    }
    others = [one for one in conditions if one["type"] != "DisruptionTarget"]
    return {**pod, "status": {**pod["status"], "conditions": [*others, said]}}
