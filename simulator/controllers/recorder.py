"""Events as controllers record them: similar ones combined, too many dropped.

Kubernetes: client-go tools/record. From the tenth different message within ten minutes on, Events
of one object, type and reason become one with "(combined from similar events): "; the same Event
again counts up; about one object 25 may be written at once and then one every five minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

from simulator.clock import timestamp
from simulator.errors import ApiError
from simulator.resources import EVENTS

if TYPE_CHECKING:
    from simulator.controllers.client import Client, Cluster
    from simulator.objects import Object

NORMAL: Final = "Normal"
WARNING: Final = "Warning"

_SIMILAR: Final = 10
_INTERVAL_S: Final = 600.0
_BURST: Final = 25.0
_PER_S: Final = 1 / 300
_COMBINED: Final = "(combined from similar events): "

_REMEMBERED: Final = 4096

_Key = tuple[str, ...]
_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(Generic[_K, _V]):
    """Remembers what was written last, and not more of it than client-go does."""

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._entries: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """Give what is remembered of a key."""
        return self._entries.get(key)

    def put(self, key: _K, value: _V) -> None:
        """Remember; what was written longest ago is forgotten for it."""
        self._entries.pop(key, None)
        self._entries[key] = value
        if len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]

    def drop(self, key: _K) -> None:
        """Forget a key."""
        self._entries.pop(key, None)


class Correlator:
    """Decides what becomes of an Event: its message, under which key it counts, or nothing."""

    def __init__(self) -> None:
        self._messages: Recent[_Key, tuple[set[str], float]] = Recent()
        self._tokens: Recent[str, tuple[float, float]] = Recent()

    def combine(self, group: _Key, message: str, now: float) -> tuple[_Key, str]:
        """Give the key and the message under which an Event is counted."""
        seen, last = self._messages.get(group) or (set(), now)
        if now - last > _INTERVAL_S:
            seen = set()
        seen.add(message)
        self._messages.put(group, (seen, now))
        if len(seen) < _SIMILAR:
            return (*group, message), message
        seen.discard(message)  # as many as before: the next one is combined as well
        return group, _COMBINED + message

    def admits(self, uid: str, now: float) -> bool:
        """Tell whether one more Event about this object is not too many."""
        tokens, last = self._tokens.get(uid) or (_BURST, now)
        tokens = min(_BURST, tokens + (now - last) * _PER_S)
        enough = tokens >= 1
        self._tokens.put(uid, (tokens - enough, now))
        return enough


class Recorder:
    """Writes the Events of one component, one after the other."""

    def __init__(self, client: Client, cluster: Cluster, component: str) -> None:
        self._client, self._cluster, self._component = client, cluster, component
        self._correlator = Correlator()
        self._written: Recent[_Key, Object] = Recent()
        self._waiting: list[tuple[_Key, Object]] = []
        self._busy = False

    def record(self, about: Object, type_: str, reason: str, message: str) -> None:
        """Take an Event about an object; it is written in the background."""
        now, uid = self._cluster.store.clock.now(), about["metadata"]["uid"]
        key, message = self._correlator.combine((uid, type_, reason), message, now)
        if not self._correlator.admits(uid, now):
            return
        self._waiting.append((key, self._event(about, type_, reason, message)))
        if not self._busy:
            self._busy = True
            self._cluster.background.start(self._write_all())

    def _event(self, about: Object, type_: str, reason: str, message: str) -> Object:
        metadata, now = about["metadata"], self._cluster.store.clock.now()
        namespace = metadata.get("namespace") or "default"
        involved = {
            "kind": about["kind"],
            "namespace": metadata.get("namespace"),
            "name": metadata["name"],
            "uid": metadata["uid"],
            "apiVersion": about["apiVersion"],
            "resourceVersion": metadata["resourceVersion"],
        }
        return {
            "metadata": {
                "name": f"{metadata['name']}.{int(now * 1e9):x}",
                "namespace": namespace,
            },
            "involvedObject": {part: value for part, value in involved.items() if value},
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": timestamp(now),
            "lastTimestamp": timestamp(now),
            "count": 1,
            "type": type_,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": "",
        }

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                key, event = self._waiting.pop(0)
                try:
                    self._written.put(key, await self._write(self._written.get(key), event))
                except ApiError:
                    # As client-go: an Event that the API server refuses is given up.
                    self._written.drop(key)
        finally:
            self._busy = False

    async def _write(self, before: Object | None, event: Object) -> Object:
        if before is not None:
            again = {
                "count": before["count"] + 1,
                "lastTimestamp": event["lastTimestamp"],
                "message": event["message"],
            }
            try:
                return await self._client.update(EVENTS, before, lambda obj: {**obj, **again})
            except ApiError as refused:
                if refused.reason != "NotFound":  # its hour is over: it is written anew
                    raise
        return await self._create(event)

    async def _create(self, event: Object) -> Object:
        """Make it; on a virtual clock several may have one moment, which is their name."""
        metadata, table = event["metadata"], self._cluster.store.table(EVENTS)
        base, _, moment = metadata["name"].rpartition(".")
        number = int(moment, 16)
        while table.get((metadata["namespace"], f"{base}.{number:x}")) is not None:
            number += 1
        named = {**event, "metadata": {**metadata, "name": f"{base}.{number:x}"}}
        return await self._client.create(EVENTS, metadata["namespace"], named)
