"""PodGC: deletes pods that ended once there are too many, and pods of nodes that are gone.

Kubernetes: pkg/controller/podgc. It looks every 20 s; here only when there is something to look
at, at the next such moment. A node must have been gone for 40 s.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from simulator.clock import parse_timestamp
from simulator.controllers import pods as pod_rules
from simulator.controllers.client import Client
from simulator.controllers.disruption import fail
from simulator.errors import ApiError
from simulator.objects import key_of
from simulator.resources import NODES, PODS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.store.table import Change

THRESHOLD: Final = 12_500
"""kube-controller-manager --terminated-pod-gc-threshold."""

_PERIOD_S: Final = 20.0
_QUARANTINE_S: Final = 40.0
_NAME: Final = "pod-garbage-collector"


def surplus(ended: Sequence[Object], threshold: int) -> list[Object]:
    """Give those that go because too many have ended: the oldest."""
    many = len(ended) - threshold
    if many <= 0:
        return []

    def age(pod: Object) -> tuple[float, str]:
        return parse_timestamp(pod["metadata"]["creationTimestamp"]), pod["metadata"]["name"]

    return sorted(ended, key=age)[:many]


class PodGC:
    """Follows pods and nodes."""

    def __init__(self, cluster: Cluster, *, threshold: int = THRESHOLD) -> None:
        self._cluster, self._threshold = cluster, threshold
        self._client = Client(cluster, _NAME, _NAME)
        self._pods, self._nodes = cluster.store.table(PODS), cluster.store.table(NODES)
        self._ended: dict[Key, None] = {}
        self._missing: dict[str, float] = {}  # nodes that pods name, and since when they are gone
        self._planned = self._busy = False
        for record in self._pods.records():
            self._look_at(record.object)
        cluster.pods.listen(self._note_pod)
        self._pods.listen(self._note_end)
        self._nodes.listen(self._note_node)

    def _note_end(self, change: Change) -> None:
        if change.type == DELETED:
            self._ended.pop(change.record.key, None)

    def _note_pod(self, pod: Object, before: Object | None) -> None:
        if before is None or not _alike(pod, before):
            self._look_at(pod)

    def _look_at(self, pod: Object) -> None:
        node, key = pod["spec"].get("nodeName"), key_of(pod)
        if self._pods.get(key) is None:
            return
        if pod_rules.is_over(pod):
            self._ended[key] = None
        if len(self._ended) > self._threshold:
            self._plan()
        if node and self._nodes.get(("", node)) is None:
            self._miss(node)

    def _note_node(self, change: Change) -> None:
        name = change.record.key[1]
        if change.type != DELETED:
            self._missing.pop(name, None)
        elif any(record.object["spec"].get("nodeName") == name for record in self._pods.records()):
            self._miss(name)

    def _miss(self, node: str) -> None:
        self._missing.setdefault(node, self._cluster.store.clock.now())
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            clock = self._cluster.store.clock
            clock.after(_PERIOD_S - clock.now() % _PERIOD_S, self._start)

    def _start(self) -> None:
        self._planned = False
        if self._busy:  # the round before waits for its tokens still
            self._plan()
            return
        self._busy = True
        self._cluster.background.start(self._collect())

    async def _collect(self) -> None:
        try:
            found = (self._pods.get(key) for key in self._ended)
            ended = [record.object for record in found if record is not None]
            for pod in surplus(ended, self._threshold):
                await self._delete(pod)
            await self._collect_orphans()
        finally:
            self._busy = False
            if self._missing or len(self._ended) > self._threshold:
                self._plan()

    async def _collect_orphans(self) -> None:
        now = self._cluster.store.clock.now()
        gone = {node for node, since in self._missing.items() if now - since >= _QUARANTINE_S}
        if not gone:
            return
        for record in list(self._pods.records()):
            if record.object["spec"].get("nodeName") in gone:
                await fail(self._client, record.object, now)
                await self._delete(record.object)
        for node in gone:
            self._missing.pop(node, None)

    async def _delete(self, pod: Object) -> None:
        # Whatever the API server refuses is tried again in the next round.
        with suppress(ApiError):
            await self._client.delete(PODS, pod, grace_s=0)


def _alike(pod: Object, before: Object) -> bool:
    same_node = pod["spec"].get("nodeName") == before["spec"].get("nodeName")
    return same_node and pod_rules.is_over(pod) == pod_rules.is_over(before)
