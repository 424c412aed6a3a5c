"""How a controller writes: as its own service account, at its own pace, through admission.

For: the four verbs that controllers use, and the Events that they record.
Not for: reading; controllers read the store, which is their informer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from simulator.admission.chain import User
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.auth.credentials import of_token
from simulator.controllers.bucket import TokenBucket
from simulator.controllers.recorder import Recorder
from simulator.resources import STATUS
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.writes import Writes
    from simulator.controllers.background import Background
    from simulator.controllers.dependents import Dependents
    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.store.store import Store

_GROUPS: Final = (
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What all controllers share."""

    store: Store
    writes: Writes
    background: Background
    pods: Dependents


class Client:
    """Writes of one controller. Every call waits for a token and may raise an ApiError."""

    def __init__(self, cluster: Cluster, account: str, component: str) -> None:
        self._cluster = cluster
        uid = UUID(int=cluster.store.chance.stream(account).getrandbits(128), version=4)
        name = f"system:serviceaccount:kube-system:{account}"
        self._user = User(name, _GROUPS, str(uid), of_token(name))
        self._bucket = TokenBucket(cluster.background)
        self._recorder = Recorder(self, cluster, component)

    async def create(self, resource: Resource, namespace: str, obj: Object) -> Object:
        """Make an object; returns it as it is stored."""
        await self._bucket.take()
        target = Target(resource, namespace)
        made = await self._cluster.writes.create(target, obj, self._call("CreateOptions"))
        return made.object

    async def update(
        self, resource: Resource, seen: Object, change: Callable[[Object], Object], sub: str = ""
    ) -> Object:
        """Change the object that was seen, as it is now. Raises a 409 if it was replaced."""
        await self._bucket.take()
        metadata = seen["metadata"]

        def same(obj: Object) -> Object:
            changed = change(obj)
            return {**changed, "metadata": {**changed["metadata"], "uid": metadata["uid"]}}

        target = Target(resource, metadata.get("namespace", ""), metadata["name"], sub)
        call = self._call("UpdateOptions")
        return (await self._cluster.writes.update(target, same, call)).object

    async def update_status(self, resource: Resource, seen: Object, status: Object) -> None:
        """Write a status, if it is another one than the one that was seen."""
        if status != (seen.get("status") or {}):
            await self.update(resource, seen, lambda obj: {**obj, "status": status}, STATUS)

    async def delete(
        self,
        resource: Resource,
        seen: Object,
        *,
        grace_s: int | None = None,
        propagation: str | None = None,
    ) -> None:
        """Delete the very object that was seen; `grace_s` in place of a pod's own grace."""
        await self._bucket.take()
        metadata = seen["metadata"]
        target = Target(resource, metadata.get("namespace", ""), metadata["name"])
        options = Options(grace_s, metadata["uid"], propagation=propagation)
        call = self._call("DeleteOptions", **options.written())
        await self._cluster.writes.delete(target, options, call)

    def record(self, about: Object, type_: str, reason: str, message: str) -> None:
        """Record an Event; it is written soon, or never if there are too many."""
        self._recorder.record(about, type_, reason, message)

    def _call(self, kind: str, **options: Any) -> Call:  # noqa: ANN401  any JSON value
        api = "v1" if kind == "DeleteOptions" else "meta.k8s.io/v1"
        return Call(user=self._user, options={"kind": kind, "apiVersion": api, **options})
