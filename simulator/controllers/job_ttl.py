"""Deletes Jobs that have been over for ttlSecondsAfterFinished, and their pods before them.

Kubernetes: pkg/controller/ttlafterfinished. A Job without that field stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.controllers import job_plan
from simulator.controllers import pods as pod_rules
from simulator.controllers.client import Client
from simulator.controllers.queue import WorkQueue
from simulator.resources import JOBS

if TYPE_CHECKING:
    from simulator.controllers.client import Cluster
    from simulator.objects import Key

_NAME: Final = "ttl-after-finished-controller"


class FinishedJobs:
    """Follows Jobs; a timer for each one that is over."""

    def __init__(self, cluster: Cluster) -> None:
        self._clock = cluster.store.clock
        self._client = Client(cluster, _NAME, _NAME)
        self._table = cluster.store.table(JOBS)
        self._queue = WorkQueue(cluster.background, self._sync)
        for record in self._table.records():
            self._queue.add(record.key)
        self._table.listen(lambda change: self._queue.add(change.record.key))

    async def _sync(self, key: Key) -> None:
        record = self._table.get(key)
        if record is None or pod_rules.is_going_away(record.object):
            return
        left = job_plan.kept_for(record.object, self._clock.now())
        if left is None:
            return
        if left > 0:
            self._queue.add_after(key, left)
        else:
            await self._client.delete(JOBS, record.object, propagation="Foreground")
