"""ReplicaSets and ReplicationControllers: as many active pods as asked, whatever became of others.

For: the loop itself. A pod that fails no longer counts, so another one is made at once; there is
no back-off for failed pods, here as in Kubernetes.
Not for: numbers and conditions of the status; `replicas_status` computes them.

Kubernetes: pkg/controller/replicaset, which serves both kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.controllers import pods as pod_rules
from simulator.controllers.claims import claims, settle
from simulator.controllers.client import Client
from simulator.controllers.podcontrol import create_slowly, delete_all
from simulator.controllers.queue import WorkQueue
from simulator.controllers.replicas_status import status_of
from simulator.controllers.watching import follow, selector_of
from simulator.objects import key_of
from simulator.resources import REPLICA_SETS, REPLICATION_CONTROLLERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.resources import Resource

_ACCOUNTS: Final = {
    REPLICA_SETS: "replicaset-controller",
    REPLICATION_CONTROLLERS: "replication-controller",
}
_BURST: Final = 500


class Plan(NamedTuple):
    """What is missing, and what is too much."""

    create: int
    delete: list[Object]


def plan(wanted: int, active: Sequence[Object]) -> Plan:
    """Compare what is wanted with what is there; at most 500 pods at a time."""
    missing = wanted - len(active)
    if missing >= 0:
        return Plan(min(missing, _BURST), [])
    surplus = sorted(active, key=pod_rules.first_to_go)
    return Plan(0, surplus[: min(-missing, _BURST)])


class ReplicaController:
    """Keeps the pods of all ReplicaSets, or of all ReplicationControllers."""

    def __init__(self, cluster: Cluster, resource: Resource) -> None:
        self._cluster, self._resource = cluster, resource
        name = _ACCOUNTS[resource]
        self._client = Client(cluster, name, name)
        self._table = cluster.store.table(resource)
        self._queue = WorkQueue(cluster.background, self._sync)
        follow(cluster, resource, self._queue.add)

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None:
            return
        owner, index = record.object, self._cluster.pods
        selector = selector_of(owner)
        found = claims(selector, index.going(owner["metadata"]["uid"]), index.orphans(key[0]))
        mine = await settle(self._client, owner, found)
        active = [pod for pod in mine if pod_rules.is_active(pod)]
        going = len(mine) - len(active)
        error = None
        if not pod_rules.is_going_away(owner):
            error = await self._manage(owner, active)
        now = self._cluster.store.clock.now()
        newest = self._table.get(key_of(owner))
        if newest is None or newest.object["metadata"]["uid"] != owner["metadata"]["uid"]:
            return
        status = status_of(newest.object, active, going, error, now)
        # What was observed is the spec of the start of this turn, not a newer one.
        status["observedGeneration"] = owner["metadata"].get("generation", 0)
        await self._client.update_status(self._resource, newest.object, status)
        if error is not None:
            raise error
        least = owner["spec"].get("minReadySeconds", 0)
        look = pod_rules.next_available(active, least, now)
        if look is not None:
            self._queue.add_after(key, look)

    async def _manage(self, owner: Object, active: Sequence[Object]) -> Exception | None:
        """Make or delete pods; returns the first error."""
        wanted = plan(owner["spec"].get("replicas", 1), active)
        background = self._cluster.background
        if wanted.delete:
            return await delete_all(background, self._client, owner, wanted.delete)
        template = owner["spec"]["template"]
        made = [pod_rules.from_template(template, owner) for _ in range(wanted.create)]
        return await create_slowly(background, self._client, owner, made)
