"""A cluster by numbers: which pod is whose, on which node, of which kind. Nothing is kept.

Of ten owners seven have pods that are not Guaranteed, one has pinned pods that needed no change,
two have pods that the webhook changed. A hundred thousand pods of 8 KB would not fit a test
machine's memory twice; made from patterns they need none.
"""

from datetime import timedelta

from . import nodelike, podlike
from .podlike import stamp

REPLICAS = 50
"""Pods of one owner."""
NAMESPACES = 200
REJECTED_OF_ONE = 10
"""Rejected pods of one Job."""
REJECTING = 25
"""One node in so many has rejected pods: schedulers choose the same ones again and again."""

_KINDS = ("ordinary",) * 7 + ("pinned", "aligned", "aligned")

Values = dict[bytes, bytes]


class Crowd:
    """A cluster of so many nodes, pods and rejected pods. All methods return JSON."""

    def __init__(self, nodes: int, pods: int, rejected: int) -> None:
        self.nodes, self.pods, self.rejected = nodes, pods, rejected
        self._patterns = {
            name: getattr(podlike, name)()
            for name in (
                *("ordinary", "pinned", "aligned", "placed", "held", "released", "leaving"),
                *("rejected", "rejection_event"),
            )
        } | {
            name: getattr(nodelike, name)()
            for name in (
                *("node", "node_metadata", "new_node"),
                *("namespace", "limit_range", "kubelet_start"),
            )
        }
        # Old enough to be held too long, and to be no news.
        self._old = stamp(timedelta(hours=6)).encode()
        self._recent = [stamp(timedelta(seconds=30 + s)).encode() for s in range(600)]

    def kind(self, number: int) -> str:
        """Return what a pod is like."""
        return _KINDS[number // REPLICAS % len(_KINDS)]

    def pod(self, number: int, version: int, kind: str = "", made: str = "") -> bytes:
        """Return a pod, of its own kind or as another; `made`: if not hours ago."""
        values = self.pod_values(number, version)
        if made:
            values[b"made"] = made.encode()
        return self._patterns[kind or self.kind(number)].fill(values)

    def failed_pod(self, number: int, version: int) -> bytes:
        """Return a rejected pod."""
        return self._patterns["rejected"].fill(self._rejected_values(number, version))

    def rejection_event(self, number: int, version: int) -> bytes:
        """Return the Event of its rejection."""
        return self._patterns["rejection_event"].fill(self._rejected_values(number, version))

    def node(self, number: int, version: int, kind: str = "node", beat: str = "") -> bytes:
        """Return a node; `kind`: node, node_metadata or new_node. `beat`: its last heartbeat."""
        made = self._old
        name = b"node-%05d" % number if kind != "new_node" else b"new-%05d" % number
        return self._patterns[kind].fill(
            {
                b"node": name,
                b"uid": b"00000000-0000-4000-8000-%012d" % number,
                b"version": b"%d" % version,
                b"made": made,
                b"beat": beat.encode() or made,
                b"zone": b"zone-%d" % (number % 3),
                b"most": b"%d" % (22 - number % 3 * 6),
            }
        )

    def node_metadata(self, number: int, version: int) -> bytes:
        """Return what is sent of a node if only its metadata is asked for."""
        return self.node(number, version, "node_metadata")

    def namespace(self, number: int, version: int) -> bytes:
        """Return a namespace."""
        return self._patterns["namespace"].fill(self._values(number, version))

    def limit_range(self, number: int, version: int) -> bytes:
        """Return the LimitRange of a namespace."""
        return self._patterns["limit_range"].fill(self._values(number, version))

    def kubelet_start(self, number: int, version: int) -> bytes:
        """Return the Event of a kubelet that started."""
        values = self._values(number, version)
        return self._patterns["kubelet_start"].fill({**values, b"node": b"node-%05d" % number})

    def pod_values(self, number: int, version: int) -> Values:
        """Return what is in the gaps of a pod."""
        owner = number // REPLICAS
        return {
            b"name": b"svc-%05d-6d8f5c7b9d-%07d" % (owner, number),
            b"uid": b"00000000-0000-4000-9000-%012d" % number,
            b"namespace": b"team-%03d" % (owner % NAMESPACES),
            b"owner": b"svc-%05d-6d8f5c7b9d" % owner,
            b"owneruid": b"00000000-0000-4000-a000-%012d" % owner,
            b"node": b"node-%05d" % (number * 7919 % self.nodes),
            b"version": b"%d" % version,
            b"made": self._old,
        }

    def _rejected_values(self, number: int, version: int) -> Values:
        owner = number // REJECTED_OF_ONE
        return {
            b"name": b"job-%05d-%07d" % (owner, number),
            b"uid": b"00000000-0000-4000-b000-%012d" % number,
            b"namespace": b"team-%03d" % (owner % NAMESPACES),
            b"owner": b"job-%05d" % owner,
            b"owneruid": b"00000000-0000-4000-c000-%012d" % owner,
            b"node": b"node-%05d" % (number % max(1, self.nodes // REJECTING) * REJECTING),
            b"version": b"%d" % version,
            b"made": self._recent[number % len(self._recent)],
        }

    def _values(self, number: int, version: int) -> Values:
        return {
            b"namespace": b"team-%03d" % number,
            b"uid": b"00000000-0000-4000-d000-%012d" % number,
            b"version": b"%d" % version,
            b"made": self._old,
        }
