"""What a node says to the API server: statuses, Events, deletes, its Node, Lease and topology.

For: the writes of one kubelet, as system:node:NAME, and of NFD for its topology.
Not for: when to say what; the kubelet decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulator.admission.chain import User
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.clock import micro_timestamp
from simulator.errors import ApiError
from simulator.kubelet import nodes
from simulator.objects import copy
from simulator.recording import Recorder, Told
from simulator.resources import LEASES, NODES, PODS, STATUS, TOPOLOGIES
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from simulator.api.writes import Writes
    from simulator.errands import Send
    from simulator.objects import Key, Object
    from simulator.store.store import Store
    from simulator.store.table import Record

_TOPOLOGY_USER: Final = User(
    "system:serviceaccount:node-feature-discovery:nfd-topology-updater",
    (
        "system:serviceaccounts",
        "system:serviceaccounts:node-feature-discovery",
        "system:authenticated",
    ),
)


@dataclass(frozen=True, slots=True)
class Site:
    """What all kubelets of a cluster share."""

    store: Store
    writes: Writes
    send: Send


class Voice:
    """Writes for one node. Nothing here raises an ApiError: a kubelet goes on whatever happens."""

    def __init__(self, site: Site, name: str) -> None:
        self._store, self._writes, self._name = site.store, site.writes, name
        user = User(f"system:node:{name}", ("system:nodes", "system:authenticated"))
        self._call = Call(user)
        self._recorder = Recorder(site.writes, site.store.clock, user, "kubelet", name)

    async def status(self, key: Key, uid: str, make: Callable[[Object], Object]) -> bool:
        """Write the status of a pod as `make` has it; False: the pod is not there any more."""

        def changed(pod: Object) -> Object:
            return {**pod, "status": make(pod)} if pod["metadata"]["uid"] == uid else pod

        try:
            record = await self._writes.update(Target(PODS, *key, STATUS), changed, self._call)
        except ApiError:
            return False
        return bool(record.object["metadata"]["uid"] == uid)

    async def tell(self, obj: Object, told: Told, known: dict[Told, Key] | None = None) -> None:
        """Record an Event; one that is `known` counts up, as client-go has it."""
        before = None if known is None else known.get(told)
        if before is not None and await self._recorder.again(before):
            return
        key = await self._recorder.core(obj, told)
        if known is not None and key is not None:
            known[told] = key

    async def born(self) -> None:
        """Say that the kubelet has started.

        As BirthCry does (pkg/kubelet/kubelet.go): about a Node whose uid is its name, for the
        kubelet does not know the real one yet.
        """
        about = {
            "apiVersion": "",
            "kind": NODES.kind,
            "metadata": {"name": self._name, "uid": self._name, "resourceVersion": ""},
        }
        await self.tell(about, Told("Normal", "Starting", "Starting kubelet."))

    async def delete(self, key: Key, uid: str) -> None:
        """Delete a pod for good: all its containers have ended."""
        try:
            await self._writes.delete(Target(PODS, *key), Options(grace_s=0, uid=uid), self._call)
        except ApiError:
            return  # somebody else was faster

    async def register(self, node: Object) -> None:
        """Make the Node object, or say of one that is there that it is ready."""
        if self._store.table(NODES).get(("", self._name)) is None:
            await self._try(self._writes.create(Target(NODES), node, self._call))
        else:
            await self.ready(node["status"]["conditions"])
        await self.renew()

    async def ready(self, conditions: list[Object]) -> None:
        """Write the node's conditions; moments of transitions stay where nothing changes."""

        def changed(node: Object) -> Object:
            known = {one["type"]: one for one in node["status"].get("conditions") or ()}
            said = [dict(one) for one in conditions]
            for one in said:
                was = known.get(one["type"], {})
                if was.get("status") == one["status"]:
                    one["lastTransitionTime"] = was["lastTransitionTime"]
            return {**node, "status": {**node["status"], "conditions": said}}

        target = Target(NODES, "", self._name, STATUS)
        await self._try(self._writes.update(target, changed, self._call))

    async def renew(self) -> None:
        """Renew the node's lease, or make it."""
        record = self._store.table(NODES).get(("", self._name))
        if record is None:
            return
        now, target = self._store.clock.now(), Target(LEASES, nodes.LEASES_IN)
        if self._store.table(LEASES).get((nodes.LEASES_IN, self._name)) is None:
            made = nodes.lease(self._name, record.object["metadata"]["uid"], now)
            await self._try(self._writes.create(target, made, self._call))
            return

        def renewed(lease: Object) -> Object:
            lease = copy(lease)
            lease["spec"]["renewTime"] = micro_timestamp(now)
            return lease

        update = self._writes.update(target._replace(name=self._name), renewed, self._call)
        await self._try(update)

    async def topology(self, topology: Object) -> None:
        """Publish the node's NodeResourceTopology."""
        call, target = Call(_TOPOLOGY_USER), Target(TOPOLOGIES)
        if self._store.table(TOPOLOGIES).get(("", self._name)) is None:
            await self._try(self._writes.create(target, topology, call))
            return
        named = target._replace(name=self._name)

        def changed(current: Object) -> Object:
            return {**current, **{k: v for k, v in topology.items() if k != "metadata"}}

        await self._try(self._writes.update(named, changed, call))

    @staticmethod
    async def _try(write: Coroutine[Any, Any, Record]) -> None:
        try:
            await write
        except ApiError:
            return  # the next heartbeat or change says it again
