"""The events of a cluster in which pods come and go: of ten, eight are of pods, two of nodes.

A pod's are those of its life: made, bound, started, ready, probed, leaving, stopped, gone. A node's
is its kubelet's status, in which nothing has changed but the time.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

from .crowded import Crowd
from .podlike import stamp
from .tables import NODE_METADATA, NODES, PODS, VERSION

OF_PODS = 8
OF_NODES = 2
AT_A_TIME = 8
"""Lives that are in step with each other, so that neighbours in the stream differ."""

Sent = tuple[str, bytes]
"""The table whose watchers get it, and the event."""


class Lives:
    """Makes events; versions and pods are never used twice."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._versions = count(VERSION + 1)
        self._next = crowd.pods
        self._beats = count()

    def version(self) -> int:
        """Return the next version."""
        return next(self._versions)

    def stream(self) -> Iterator[list[Sent]]:
        """Yield events without end, each for all tables that show it."""
        crowd = self._crowd
        while True:
            first, made = self._next, stamp(timedelta(0))
            self._next += AT_A_TIME
            for step in range(OF_PODS):
                for place in range(AT_A_TIME):
                    yield [(PODS, self._of_pod(first + place, step, made))]
                    if place % (OF_PODS // OF_NODES) == 0:
                        yield self._heartbeat(next(self._beats) % crowd.nodes)

    def held(self) -> tuple[str, list[Sent]]:
        """Return a new pod that has been held for too long, and its key."""
        number = self._next
        self._next += 1
        values = self._crowd.pod_values(number, 0)
        key = f"{values[b'namespace'].decode()}/{values[b'name'].decode()}"
        return key, [(PODS, event(b"ADDED", self._crowd.pod(number, self.version(), "held")))]

    def new_node(self) -> tuple[str, list[Sent]]:
        """Return a node that has just joined, and its name."""
        version = self.version()
        made = event(b"ADDED", self._crowd.node(version, version, "new_node"))
        return f"new-{version:05d}", [(NODES, made)]

    def _of_pod(self, number: int, step: int, made: str) -> bytes:
        kinds = ("placed", "placed", "", "", "", "leaving", "leaving", "leaving")
        ordinary = self._crowd.kind(number) == "ordinary"
        obj = self._crowd.pod(number, self.version(), "ordinary" if ordinary else kinds[step], made)
        verbs = {0: b"ADDED", OF_PODS - 1: b"DELETED"}
        return event(verbs.get(step, b"MODIFIED"), obj)

    def _heartbeat(self, number: int) -> list[Sent]:
        version, beat = self.version(), stamp(timedelta(0))
        return [
            (NODES, event(b"MODIFIED", self._crowd.node(number, version, "node", beat))),
            (NODE_METADATA, event(b"MODIFIED", self._crowd.node_metadata(number, version))),
        ]


def event(verb: bytes, obj: bytes) -> bytes:
    """Return the line of a watch."""
    return b'{"type":"%s","object":%s}\n' % (verb, obj)
