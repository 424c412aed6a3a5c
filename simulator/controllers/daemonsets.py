"""DaemonSets: a pod on every node that is to have one; failed ones are deleted and made again.

For: carrying out `daemonset_plan` and `daemonset_update`, with the back-off for failed pods: 1 s,
doubling to 15 min, for each node.

Kubernetes: pkg/controller/daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers import daemonset_plan as plans
from simulator.controllers import pods as pod_rules
from simulator.controllers.backoff import BackOff
from simulator.controllers.claims import claims, settle
from simulator.controllers.client import Client
from simulator.controllers.daemon_pods import new_pod, node_of, revision_of
from simulator.controllers.daemonset_update import update
from simulator.controllers.history import History
from simulator.controllers.podcontrol import create_slowly, delete_all
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import WARNING
from simulator.controllers.watching import follow, selector_of
from simulator.objects import dig, key_of
from simulator.resources import DAEMON_SETS, NODES

if TYPE_CHECKING:
    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.store.table import Change

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 15 * 60.0
_WORKERS: Final = 2


class DaemonSets:
    """Keeps the pods of all DaemonSets."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client = Client(cluster, "daemon-set-controller", "daemonset-controller")
        self._table = cluster.store.table(DAEMON_SETS)
        self._nodes = cluster.store.table(NODES)
        self._history = History(cluster, self._client)
        self._back_off = BackOff(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        self._queue = WorkQueue(cluster.background, self._sync, workers=_WORKERS)
        follow(cluster, DAEMON_SETS, self._queue.add)
        self._nodes.listen(self._note_node)

    def _note_node(self, change: Change) -> None:
        """Look at everything again when a node comes, goes or may suit others than before."""
        before = change.previous.object if change.previous else None
        if before is None or _suits(before) != _suits(change.record.object):
            for record in self._table.records():
                self._queue.add(record.key)

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None or pod_rules.is_going_away(record.object):
            return
        owner, index = record.object, self._cluster.pods
        uid, now = owner["metadata"]["uid"], self._cluster.store.clock.now()
        found = claims(selector_of(owner), index.all(uid), index.orphans(key[0]))
        pods = await settle(self._client, owner, found)
        nodes = [node.object for node in self._nodes.records()]
        revision = revision_of(await self._history.today(owner))
        plan = plans.plan(owner, nodes, pods, revision)
        gone = [*plan.delete, *(pod for pod in plan.failed if self._may_go(owner, pod, revision))]
        error = await self._change(owner, plan.create, gone, revision)
        if error is None and not plan.create:
            old, second = update(owner, nodes, pods, revision, now)
            error = await self._change(owner, second, old, revision)
        newest = self._table.get(key_of(owner))
        if newest is not None and newest.object["metadata"]["uid"] == uid:
            status = plans.status_of(owner, nodes, pods, revision, now)
            await self._client.update_status(DAEMON_SETS, newest.object, status)
            live = {f"{key[1]}-{hash_}" for hash_ in (revision, *map(revision_of, pods))}
            await self._history.tidy(owner, live)
        if error is not None:
            raise error
        least = owner["spec"].get("minReadySeconds", 0)
        look = pod_rules.next_available(pods, least, now)
        if look is not None:
            self._queue.add_after(key, look)

    async def _change(
        self, owner: Object, nodes: list[str], gone: list[Object], revision: str
    ) -> Exception | None:
        """Make the pods of some nodes and delete others; returns the first error."""
        background = self._cluster.background
        made = [new_pod(owner, node, revision) for node in nodes]
        error = await create_slowly(background, self._client, owner, made)
        return await delete_all(background, self._client, owner, gone) or error

    def _may_go(self, owner: Object, pod: Object, revision: str) -> bool:
        """Tell whether a failed pod is deleted now; if not, it is looked at when it may."""
        now, node = self._cluster.store.clock.now(), node_of(pod)
        metadata = owner["metadata"]
        place = (metadata["uid"], revision, node)
        wait = self._back_off.left(place, now)
        if wait > 0:
            self._queue.add_after(key_of(owner), wait)
            return False
        self._back_off.failed(place, now)
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        text = f"Found failed daemon pod {name} on node {node}, will try to kill it"
        self._client.record(owner, WARNING, "FailedDaemonPod", text)
        return True


def _suits(node: Object) -> tuple[object, ...]:
    return dig(node, "metadata", "labels"), dig(node, "spec", "taints")
