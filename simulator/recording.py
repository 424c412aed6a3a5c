"""Events as the components of a cluster write them, in the two shapes there are.

For: scheduler (events.k8s.io: eventTime set, no count) and kubelet (core: count and timestamps).
Not for: folding repeats; each call is one Event object. The scheduler folds its own (`repeats`).

Kubernetes: client-go tools/events (makeEvent) and tools/record (makeEvent).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.clock import micro_timestamp, timestamp
from simulator.errors import ApiError
from simulator.resources import EVENTS

if TYPE_CHECKING:
    from simulator.admission.chain import User
    from simulator.api.writes import Writes
    from simulator.clock import Clock
    from simulator.objects import Key, Object


class Told(NamedTuple):
    """What an event says."""

    type: str  # Normal, Warning
    reason: str
    message: str
    action: str = ""  # events.k8s.io only
    place: str = ""  # within the object: a container


def reference(obj: Object) -> Object:
    """Point at an object as events do."""
    metadata = obj["metadata"]
    found = {"kind": obj["kind"], "namespace": metadata.get("namespace"), "name": metadata["name"]}
    found |= {"uid": metadata["uid"], "apiVersion": obj["apiVersion"]}
    found["resourceVersion"] = metadata["resourceVersion"]
    return {part: value for part, value in found.items() if value}


class Recorder:
    """Writes the events of one component."""

    def __init__(self, writes: Writes, clock: Clock, user: User, component: str, host: str) -> None:
        self._writes, self._clock, self._call = writes, clock, Call(user)
        self._component, self._host = component, host
        self._last = 0

    async def core(self, obj: Object, told: Told) -> Key | None:
        """Record as client-go's old recorder does: kubelets and controllers."""
        now, host = timestamp(self._clock.now()), {"host": self._host} if self._host else {}
        return await self._write(
            obj,
            told,
            {
                "source": {"component": self._component, **host},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "eventTime": None,
                "reportingComponent": self._component,
                "reportingInstance": self._host,
            },
        )

    async def again(self, event: Key) -> bool:
        """Count an Event of `core` once more; False: it is not there any more."""
        now = timestamp(self._clock.now())

        def counted(known: Object) -> Object:
            return {**known, "count": known["count"] + 1, "lastTimestamp": now}

        try:
            await self._writes.update(Target(EVENTS, *event), counted, self._call)
        except ApiError:
            return False
        return True

    async def new(self, obj: Object, told: Told) -> Key | None:
        """Record as client-go's new recorder does: the scheduler. Returns the Event's key."""
        return await self._write(
            obj,
            told,
            {
                "source": {},
                "firstTimestamp": None,
                "lastTimestamp": None,
                "eventTime": micro_timestamp(self._clock.now()),
                "action": told.action,
                "reportingComponent": self._component,
                "reportingInstance": self._host,
            },
        )

    async def _write(self, obj: Object, told: Told, times: Object) -> Key | None:
        # Named by the nanosecond; on a virtual clock several events share one.
        self._last = max(self._last + 1, int(self._clock.now() * 10**9))
        namespace = obj["metadata"].get("namespace", "default")
        event = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {
                "name": f"{obj['metadata']['name']}.{self._last:x}",
                "namespace": namespace,
            },
            "involvedObject": {
                **reference(obj),
                **({"fieldPath": told.place} if told.place else {}),
            },
            "reason": told.reason,
            "message": told.message,
            "type": told.type,
            **times,
        }
        try:
            record = await self._writes.create(Target(EVENTS, namespace), event, self._call)
        except ApiError:
            # Kubernetes rule: events are best effort, in a namespace that goes for instance.
            return None
        return record.key
