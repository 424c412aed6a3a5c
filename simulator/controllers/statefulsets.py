"""StatefulSets: pods with names that stay, one after the other.

For: carrying out the steps of `statefulset_plan`.
Not for: volumes; there are no claims in the pocket cluster.

Kubernetes: pkg/controller/statefulset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers import pods as pod_rules
from simulator.controllers import revisions
from simulator.controllers import statefulset_plan as plans
from simulator.controllers.claims import claims, settle
from simulator.controllers.client import Client
from simulator.controllers.history import History
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import NORMAL, WARNING
from simulator.controllers.watching import follow, selector_of
from simulator.errors import ApiError
from simulator.objects import key_of
from simulator.resources import PODS, STATEFUL_SETS

if TYPE_CHECKING:
    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object

_NAME: Final = "statefulset-controller"


class StatefulSets:
    """Keeps the pods of all StatefulSets."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client = Client(cluster, _NAME, _NAME)
        self._table = cluster.store.table(STATEFUL_SETS)
        self._history = History(cluster, self._client)
        self._queue = WorkQueue(cluster.background, self._sync)
        follow(cluster, STATEFUL_SETS, self._queue.add)

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None or pod_rules.is_going_away(record.object):
            return
        owner, now = record.object, self._cluster.store.clock.now()
        uid, before = owner["metadata"]["uid"], owner.get("status") or {}
        pods = await self._pods(owner)
        update = (await self._history.today(owner))["metadata"]["name"]
        templates = {
            one["metadata"]["name"]: revisions.template_of(one) for one in self._history.of(owner)
        }
        said = before.get("currentRevision", "")
        current = said if said in templates else update
        for step in plans.steps(owner, pods, update, now):
            if step.pod is not None:
                await self._delete(owner, step.pod, ended=step.verb == plans.RECREATE)
                continue
            revision = plans.revision_for(owner["spec"], step.ordinal, current, update)
            made = plans.new_pod(owner, step.ordinal, revision, templates[revision])
            await self._create(owner, made)
        status = plans.status_of(owner, before, pods, current, update, now)
        newest = self._table.get(key_of(owner))
        if newest is not None and newest.object["metadata"]["uid"] == uid:
            await self._client.update_status(STATEFUL_SETS, newest.object, status)
        live = {current, update, *map(plans.revision_of, pods.values())}
        await self._history.tidy(owner, live)
        least = owner["spec"].get("minReadySeconds", 0)
        look = pod_rules.next_available(pods.values(), least, now)
        if look is not None:
            self._queue.add_after(key, look)

    async def _pods(self, owner: Object) -> dict[int, Object]:
        """Give the pods by ordinal."""
        index, metadata = self._cluster.pods, owner["metadata"]
        orphans = [
            pod
            for pod in index.orphans(metadata["namespace"])
            if plans.ordinal_of(owner, pod) is not None
        ]
        found = claims(selector_of(owner), index.all(metadata["uid"]), orphans)
        mine = await settle(self._client, owner, found)
        numbered = ((plans.ordinal_of(owner, pod), pod) for pod in mine)
        return {ordinal: pod for ordinal, pod in numbered if ordinal is not None}

    async def _create(self, owner: Object, pod: Object) -> None:
        what = f"create Pod {pod['metadata']['name']} in StatefulSet {owner['metadata']['name']}"
        try:
            await self._client.create(PODS, owner["metadata"]["namespace"], pod)
        except ApiError as refused:
            if refused.reason == "AlreadyExists":  # an older pod of that name still goes
                raise
            text = f"{what} failed error: {refused.message}"
            self._client.record(owner, WARNING, "FailedCreate", text)
            raise
        self._client.record(owner, NORMAL, "SuccessfulCreate", f"{what} successful")

    async def _delete(self, owner: Object, pod: Object, *, ended: bool) -> None:
        metadata, name = owner["metadata"], pod["metadata"]["name"]
        whole = f"StatefulSet {metadata['namespace']}/{metadata['name']}"
        if ended and pod_rules.phase(pod) == "Failed":
            text = f"{whole} is recreating failed Pod {name}"
            self._client.record(owner, WARNING, "RecreatingFailedPod", text)
        elif ended:
            text = f"{whole} is recreating terminated Pod {name}"
            self._client.record(owner, NORMAL, "RecreatingTerminatedPod", text)
        await self._client.delete(PODS, pod)
        text = f"delete Pod {name} in StatefulSet {metadata['name']} successful"
        self._client.record(owner, NORMAL, "SuccessfulDelete", text)
