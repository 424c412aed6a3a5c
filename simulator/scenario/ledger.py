"""What becomes of pods, counted by the workload that they are of and by node.

For: totals since the start, how many there are now, and what has changed since the last look.
Not for: words; that is `report`. Follows the store's feed of pods; belongs to its thread.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.kubelet.status import PREFIX
from simulator.objects import controller_of, dig
from simulator.resources import ALL, PODS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.objects import Object
    from simulator.store.store import Store
    from simulator.store.table import Change


@dataclass(slots=True)
class Counts:
    """Pods of one workload: the first four since the start, the last two now."""

    created: int = 0
    rejected: int = 0
    failed: int = 0
    succeeded: int = 0
    running: int = 0
    pending: int = 0


_NOW: Final = ("running", "pending")


class Workload(NamedTuple):
    """Whoever wanted some pods: the topmost controller, or a pod itself that has none."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = "" if self.namespace == "default" else f" in {self.namespace}"
        return f"{self.kind.lower()}/{self.name}{where}"


_BY_KIND: Final = {(one.api_version, one.kind): one for one in ALL}


def workload_of(pod: Object, store: Store) -> Workload:
    """Follow the controllers upwards, as far as they are there."""
    namespace, at = pod["metadata"]["namespace"], pod
    kind, name = "Pod", pod["metadata"]["name"]
    while (owner := controller_of(at)) is not None:
        kind, name = owner["kind"], owner["name"]
        resource = _BY_KIND.get((owner["apiVersion"], kind))
        record = store.table(resource).get((namespace, name)) if resource is not None else None
        if record is None or record.object["metadata"]["uid"] != owner["uid"]:
            break
        at = record.object
    return Workload(kind, namespace, name)


def state_of(pod: Object) -> str:
    """Name the count that a pod belongs to; none for one that somebody deleted and that ends."""
    phase, message = dig(pod, "status", "phase"), str(dig(pod, "status", "message"))
    if phase == "Failed" and message.startswith(PREFIX):
        return "rejected"
    if "deletionTimestamp" in pod["metadata"]:
        return ""
    return phase.lower() if phase in ("Failed", "Succeeded", "Running") else "pending"


class Ledger:
    """Counts from now on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.workloads: dict[Workload, Counts] = {}
        self.nodes: dict[str, Counter[str]] = {}
        """Rejections of a node by their reason."""
        self._pods: dict[str, tuple[Workload, str]] = {}
        self._told: dict[Workload, Counts] = {}
        store.table(PODS).listen(self._note)

    def news(self) -> Iterator[tuple[Workload, Counts]]:
        """Yield what happened to each workload since the last time, and what it has now."""
        for workload, counts in self.workloads.items():
            before = self._told.get(workload, Counts())
            if counts == before:
                continue
            self._told[workload] = replace(counts)
            since = {
                name: getattr(counts, name) - getattr(before, name)
                for name in Counts.__slots__
                if name not in _NOW
            }
            yield workload, replace(counts, **since)

    def _note(self, change: Change) -> None:
        pod = change.record.object
        uid = pod["metadata"]["uid"]
        known = self._pods.get(uid)
        if known is None:
            workload, before = workload_of(pod, self._store), ""
            self.workloads.setdefault(workload, Counts()).created += 1
        else:
            workload, before = known
        after = "" if change.type == DELETED else state_of(pod)
        if change.type == DELETED:
            self._pods.pop(uid, None)
        else:
            self._pods[uid] = workload, after
        if after != before:
            self._move(workload, before, after)
            if after == "rejected":
                reasons = self.nodes.setdefault(pod["spec"].get("nodeName", ""), Counter())
                reasons[str(dig(pod, "status", "reason"))] += 1

    def _move(self, workload: Workload, before: str, after: str) -> None:
        counts = self.workloads[workload]
        if before in _NOW:
            setattr(counts, before, getattr(counts, before) - 1)
        if after:
            setattr(counts, after, getattr(counts, after) + 1)
