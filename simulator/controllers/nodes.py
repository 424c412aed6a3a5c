"""The node lifecycle controller: nodes that are lost, their taints, and the pods that must go.

For: Ready=Unknown 50 s after the last renewal of a node's lease, taints by condition, eviction of
pods when their toleration is over.
Not for: nodes that never had a lease: nobody promised to report for them.

Kubernetes: pkg/controller/nodelifecycle and pkg/controller/tainteviction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers import node_health as health
from simulator.controllers import pods as pod_rules
from simulator.controllers.client import Client
from simulator.controllers.disruption import disrupt
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import NORMAL
from simulator.controllers.taints import stay_s
from simulator.errors import ApiError
from simulator.objects import key_of
from simulator.resources import LEASES, NODES, PODS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from simulator.clock import Timer
    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.store.table import Change

_LEASES_OF: Final = "kube-node-lease"
_WHY: Final = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")


class Nodes:
    """Follows leases, nodes and the pods on them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._clock = cluster, cluster.store.clock
        self._client = Client(cluster, "node-controller", "node-controller")
        self._evictor = Client(cluster, "taint-eviction-controller", "taint-eviction-controller")
        self._nodes, self._pods = cluster.store.table(NODES), cluster.store.table(PODS)
        self._silences: dict[str, Timer] = {}
        self._evictions: dict[str, tuple[float, Timer]] = {}  # by uid of the pod
        self._queue = WorkQueue(cluster.background, self._sync)
        self._leavers = WorkQueue(cluster.background, self._evict, workers=8)
        for record in self._nodes.records():
            self._queue.add(record.key)
        self._nodes.listen(self._note_node)
        leases = cluster.store.table(LEASES)
        for record in leases.records(_LEASES_OF):
            self._hear(record.key[1])
        leases.listen(self._note_lease)
        cluster.pods.listen(self._note_pod)

    def _note_lease(self, change: Change) -> None:
        namespace, name = change.record.key
        if namespace == _LEASES_OF:
            self._hear(name)

    def _hear(self, name: str) -> None:
        timer = self._silences.pop(name, None)
        if timer is not None:
            timer.cancel()
        # A lease that is deleted is not renewed any more, either.
        self._silences[name] = self._clock.after(health.GRACE_S, lambda: self._silent(name))

    def _silent(self, name: str) -> None:
        self._silences.pop(name, None)
        self._queue.add(("", name))

    def _note_node(self, change: Change) -> None:
        if change.type == DELETED:
            timer = self._silences.pop(change.record.key[1], None)
            if timer is not None:
                timer.cancel()
        self._queue.add(change.record.key)

    def _note_pod(self, pod: Object, before: Object | None) -> None:
        """Look at a pod that comes to a node; one that has ended or gone needs no eviction."""
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if pod_rules.is_over(pod) or self._pods.get(key_of(pod)) is None:
            self._forget(uid)
        elif node and (before is None or before["spec"].get("nodeName") != node):
            record = self._nodes.get(("", node))
            if record is not None:
                self._plan(pod, record.object)

    async def _sync(self, key: Key) -> None:
        record = self._nodes.get(key)
        if record is None:
            return
        node, now = record.object, self._clock.now()
        lease = self._cluster.store.table(LEASES).get((_LEASES_OF, key[1]))
        if lease is not None and key[1] not in self._silences and health.ready(node) != "Unknown":
            await self._client.update_status(NODES, node, health.unknown(node, now))
            return  # the change comes back as another turn
        if health.tainted(node, now) != node:
            await self._client.update(NODES, node, lambda obj: health.tainted(obj, now))
            return
        here = [pod for pod in self._on(key[1]) if pod_rules.is_active(pod)]
        for pod in here:
            self._plan(pod, node)
        if health.ready(node) in ("False", "Unknown"):
            for pod in here:
                await self._client.update_status(PODS, pod, health.not_ready(pod, now))

    def _on(self, node: str) -> list[Object]:
        found = (record.object for record in self._pods.records())
        return [pod for pod in found if pod["spec"].get("nodeName") == node]

    def _plan(self, pod: Object, node: Object) -> None:
        """Have a pod go when it must; an earlier moment stays, as long as the taint does."""
        uid, key = pod["metadata"]["uid"], key_of(pod)
        wait = stay_s(node, pod["spec"].get("tolerations") or ())
        if wait is None:
            self._forget(uid)
            return
        due, planned = self._clock.now() + wait, self._evictions.get(uid)
        if planned is not None and planned[0] <= due:
            return
        self._forget(uid)
        self._evictions[uid] = due, self._clock.after(wait, lambda: self._leavers.add(key))

    def _forget(self, uid: str) -> None:
        planned = self._evictions.pop(uid, None)
        if planned is not None:
            planned[1].cancel()

    async def _evict(self, key: Key) -> None:
        record = self._pods.get(key)
        if record is None or pod_rules.is_going_away(record.object):
            return
        pod = record.object
        planned = self._evictions.pop(pod["metadata"]["uid"], None)
        if planned is None or planned[0] > self._clock.now():
            return
        text = f"Marking for deletion Pod {key[0]}/{key[1]}"
        self._evictor.record(pod, NORMAL, "TaintManagerEviction", text)
        await disrupt(self._evictor, pod, _WHY, self._clock.now())
        try:
            await self._evictor.delete(PODS, pod)
        except ApiError as refused:
            if refused.reason not in ("NotFound", "Conflict"):
                raise
