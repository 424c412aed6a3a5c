"""Deployments: a ReplicaSet for each template, and replicas that move from the old to the new.

For: carrying out `deployment_plan`.
Not for: pods; their ReplicaSets make them. Hash collisions do not happen in a cluster this small:
a ReplicaSet of that name that is not ours is an error that is tried again.

Kubernetes: pkg/controller/deployment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers import deployment_plan as plans
from simulator.controllers import deployment_sets as sets
from simulator.controllers import deployment_status as statuses
from simulator.controllers import pods as pod_rules
from simulator.controllers.client import Client
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import NORMAL
from simulator.objects import controller_of, dig
from simulator.resources import DEPLOYMENTS, REPLICA_SETS

if TYPE_CHECKING:
    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.store.table import Change

_NAME: Final = "deployment-controller"


class Deployments:
    """Keeps the ReplicaSets of all Deployments."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client = Client(cluster, _NAME, _NAME)
        self._table = cluster.store.table(DEPLOYMENTS)
        self._sets = cluster.store.table(REPLICA_SETS)
        self._queue = WorkQueue(cluster.background, self._sync)
        for record in self._table.records():
            self._queue.add(record.key)
        self._table.listen(lambda change: self._queue.add(change.record.key))
        self._sets.listen(self._note_set)
        cluster.pods.listen(self._note_pod)

    def _note_set(self, change: Change) -> None:
        self._queue_owner(change.record.object)

    def _queue_owner(self, replica_set: Object) -> None:
        owner = controller_of(replica_set)
        if owner is not None and owner["kind"] == DEPLOYMENTS.kind:
            self._queue.add((replica_set["metadata"]["namespace"], owner["name"]))

    def _note_pod(self, pod: Object, _: Object | None) -> None:
        """Look again when a pod goes: Recreate waits for the last one."""
        owner = controller_of(pod)
        if owner is None or owner["kind"] != REPLICA_SETS.kind or pod_rules.is_active(pod):
            return
        record = self._sets.get((pod["metadata"]["namespace"], owner["name"]))
        if record is not None and pod_rules.is_going_away(pod):
            self._queue_owner(record.object)

    def _owned(self, deployment: Object) -> list[Object]:
        uid, namespace = deployment["metadata"]["uid"], deployment["metadata"]["namespace"]
        found = (record.object for record in self._sets.records(namespace))
        return [one for one in found if (controller_of(one) or {}).get("uid") == uid]

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None:
            return
        deployment, everything = record.object, self._owned(record.object)
        new = sets.newest(deployment, everything)
        old = [one for one in everything if one is not new]
        created = ""
        if not pod_rules.is_going_away(deployment):
            if deployment["spec"].get("paused") or plans.was_rescaled(deployment, everything):
                await self._rescale(deployment, new, old)
            elif dig(deployment, "spec", "strategy", "type") == "Recreate":
                created = await self._recreate(deployment, new, old)
            else:
                created = await self._roll(deployment, new, old)
        await self._finish(key, deployment, created)

    async def _finish(self, key: Key, seen: Object, created: str) -> None:
        """Write the status, after what this turn did, and tidy up."""
        record = self._table.get(key)
        if record is None or record.object["metadata"]["uid"] != seen["metadata"]["uid"]:
            return
        deployment, now = record.object, self._cluster.store.clock.now()
        everything = self._owned(deployment)
        new = sets.newest(seen, everything)
        status = statuses.status_of(
            seen | {"status": deployment.get("status") or {}}, new, everything, created, now
        )
        await self._client.update_status(DEPLOYMENTS, deployment, status)
        left = statuses.deadline_left({**seen, "status": status}, now)
        if left is not None:
            # Whole seconds are written down: looked at a second late it is surely over.
            self._queue.add_after(key, left + 1)
        if statuses.is_complete(seen, status):
            await self._forget(seen, [one for one in everything if one is not new])

    async def _roll(self, deployment: Object, new: Object | None, old: list[Object]) -> str:
        everything = [*old, new] if new else old
        size = plans.new_size(deployment, new, everything)
        new, created = await self._renew(deployment, new, old, size)
        if created or sets.replicas_of(new) != size:
            await self._scale(deployment, new, size)
            return created
        for name, smaller in plans.old_sizes(deployment, new, old).items():
            (found,) = (one for one in old if one["metadata"]["name"] == name)
            await self._scale(deployment, found, smaller)
        return created

    async def _recreate(self, deployment: Object, new: Object | None, old: list[Object]) -> str:
        busy = [one for one in old if sets.replicas_of(one)]
        for one in busy:
            await self._scale(deployment, one, 0)
        pods = self._cluster.pods
        if busy or any(pods.going(one["metadata"]["uid"]) for one in old):
            return ""
        size = deployment["spec"]["replicas"]
        new, created = await self._renew(deployment, new, old, size)
        await self._scale(deployment, new, size)
        return created

    async def _rescale(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        by_name = {one["metadata"]["name"]: one for one in (*old, *((new,) if new else ()))}
        sizes = {name: sets.replicas_of(one) for name, one in by_name.items()}
        for name, size in (sizes | plans.rescaled(deployment, new, old)).items():
            if size or sizes[name]:
                await self._scale(deployment, by_name[name], size)

    async def _renew(
        self, deployment: Object, new: Object | None, old: list[Object], size: int
    ) -> tuple[Object, str]:
        """Give the ReplicaSet of today's template, made or renumbered where needed."""
        before = max(map(sets.revision_of, old), default=0)
        revision = max(before + 1, sets.revision_of(new) if new else 0)
        surge = plans.room(deployment).surge
        wanted = sets.annotations_for(deployment, revision, surge)
        created = ""
        if new is None:
            made = sets.make(deployment, size, wanted)
            namespace = deployment["metadata"]["namespace"]
            new, created = (
                await self._client.create(REPLICA_SETS, namespace, made),
                statuses.CREATED,
            )
            if size:
                self._tell(deployment, new, 0, size)
        elif wanted.items() - (dig(new, "metadata", "annotations") or {}).items():
            new = await self._client.update(REPLICA_SETS, new, lambda obj: _annotated(obj, wanted))
            conditions = dig(deployment, "status", "conditions") or ()
            if all(one["type"] != "Progressing" for one in conditions):
                created = statuses.FOUND
        if sets.revision_of(deployment) != revision:
            number = {sets.REVISION: str(revision)}
            await self._client.update(DEPLOYMENTS, deployment, lambda obj: _annotated(obj, number))
        return new, created

    async def _scale(self, deployment: Object, replica_set: Object, size: int) -> None:
        before, surge = sets.replicas_of(replica_set), plans.room(deployment).surge
        wanted = deployment["spec"]["replicas"]
        marks = {sets.DESIRED: str(wanted), sets.MOST: str(wanted + surge)}
        have = dig(replica_set, "metadata", "annotations") or {}
        if before == size and not marks.items() - have.items():
            return

        def change(obj: Object) -> Object:
            return {**_annotated(obj, marks), "spec": {**obj["spec"], "replicas": size}}

        await self._client.update(REPLICA_SETS, replica_set, change)
        if before != size:
            self._tell(deployment, replica_set, before, size)

    def _tell(self, deployment: Object, replica_set: Object, before: int, size: int) -> None:
        way, name = "up" if size > before else "down", replica_set["metadata"]["name"]
        text = f"Scaled {way} replica set {name} from {before} to {size}"
        self._client.record(deployment, NORMAL, "ScalingReplicaSet", text)

    async def _forget(self, deployment: Object, old: list[Object]) -> None:
        """Delete empty ReplicaSets beyond the history that is kept, the oldest first."""
        limit = deployment["spec"].get("revisionHistoryLimit")
        if limit is None:
            return
        living = [one for one in old if not pod_rules.is_going_away(one)]
        for one in sorted(living, key=sets.revision_of)[: max(0, len(living) - limit)]:
            status = one.get("status") or {}
            if not sets.replicas_of(one) and not status.get("replicas"):
                await self._client.delete(REPLICA_SETS, one)


def _annotated(obj: Object, extra: Object) -> Object:
    metadata = obj["metadata"]
    annotations = {**(metadata.get("annotations") or {}), **extra}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}
