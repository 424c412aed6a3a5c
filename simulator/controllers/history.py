"""Keeps the ControllerRevisions of StatefulSets and DaemonSets.

For: reading and writing them; what is to be written, `revisions` decides.
Not for: collisions of hashes, which do not happen in a cluster this small: a revision of that
name that is not ours is an error that is tried again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.controllers import revisions
from simulator.objects import controller_of
from simulator.resources import CONTROLLER_REVISIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    from simulator.controllers.client import Client, Cluster
    from simulator.objects import Object


class History:
    """The revisions of all workloads of one controller."""

    def __init__(self, cluster: Cluster, client: Client) -> None:
        self._table = cluster.store.table(CONTROLLER_REVISIONS)
        self._client = client

    def of(self, owner: Object) -> list[Object]:
        """Give the revisions of a workload."""
        metadata = owner["metadata"]
        found = (record.object for record in self._table.records(metadata["namespace"]))
        return [one for one in found if (controller_of(one) or {}).get("uid") == metadata["uid"]]

    async def today(self, owner: Object) -> Object:
        """Give the revision of today's template, made or renumbered where needed."""
        kept, number = revisions.today(owner, self.of(owner))
        if kept is None:
            namespace, made = owner["metadata"]["namespace"], revisions.make(owner, number)
            return await self._client.create(CONTROLLER_REVISIONS, namespace, made)
        if revisions.number_of(kept) == number:
            return kept
        return await self._client.update(
            CONTROLLER_REVISIONS, kept, lambda obj: {**obj, "revision": number}
        )

    async def tidy(self, owner: Object, live: Collection[str]) -> None:
        """Delete what is beyond revisionHistoryLimit; `live` are names of revisions in use."""
        limit = owner["spec"].get("revisionHistoryLimit")
        for one in revisions.surplus(self.of(owner), live, limit):
            await self._client.delete(CONTROLLER_REVISIONS, one)
