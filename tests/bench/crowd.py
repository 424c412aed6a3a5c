"""Clusters of any size in memory: nodes, rejections and pods as the controller keeps them."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from controller.state import State, is_steered, owner_and_key
from controller.views import LivePod, WatchedPod, live
from evencore.domain.ledger import Ledger
from evencore.domain.rejection import Kind, Rejection
from evencore.domain.snapshot import Nodes, Snapshot
from evencore.domain.topology import NodeFacts

NOW = datetime(2026, 3, 1, 10, 40, tzinfo=UTC)
REPLICAS = 50
"""Pods of one owner."""
LOOPING = 10
"""One owner in so many has pods that are held, released and rejected; the others just run."""
REJECTED_ON = 20
"""Nodes on which a looping owner was rejected: as many as are excluded one by one, or all."""

_AMOUNTS = {"cpu": "4", "memory": "8Gi"}
_decode = partial(msgspec.json.decode, type=WatchedPod)


def nodes(number: int) -> Nodes:
    """Return nodes of a few sizes, labelled as the controller labels them."""
    return Nodes(
        NodeFacts(
            f"node-{n:04d}",
            {
                "evencore.io/node": f"node-{n:04d}",
                "evencore.io/max-container-cpus": str(22 - n % 3 * 6),
                "topology.kubernetes.io/zone": f"zone-{n % 3}",
            },
            width=2,
            max_container=22 - n % 3 * 6,
            max_pod=44,
        )
        for n in range(number)
    )


def _namespace(number: int) -> str:
    return f"team-{number % 100:03d}"


def _uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def owner(number: int) -> str:
    """Return the key of an owner."""
    return f"{_namespace(number)}/{_uid(number)}"


def pod(number: int) -> dict[str, Any]:
    """Return a pod as the API server sends it, as far as anybody reads it."""
    of = number // REPLICAS
    looping = of % LOOPING == 0
    waits = looping and number % 2 == 0
    return {
        "metadata": {
            "name": f"web-{of:06d}-{number % REPLICAS:05d}",
            "namespace": _namespace(of),
            "uid": f"00000000-0000-4000-9000-{number:012d}",
            "labels": {"app": "web", "evencore.io/steering": "held" if waits else "released"}
            if looping
            else {"app": "web", "pod-template-hash": "6d8f5c7b9d"},
            "annotations": {"evencore.io/decision": "held, until 10:55Z at most: 3 rejections"}
            if waits
            else {"prometheus.io/scrape": "true"},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"web-{of:06d}",
                    "uid": _uid(of),
                    "controller": True,
                }
            ],
            "creationTimestamp": "2026-03-01T10:39:00Z",
        },
        "spec": {
            "containers": [{"name": "a", "resources": {"requests": _AMOUNTS, "limits": _AMOUNTS}}],
            **(
                {"schedulingGates": [{"name": "evencore.io/hold"}]}
                if waits
                else {"nodeName": f"node-{number % 5000:04d}"}
            ),
        },
        "status": {"phase": "Pending", "qosClass": "Guaranteed"}
        if waits
        else {"phase": "Running", "qosClass": "Guaranteed", "startTime": "2026-03-01T10:39:05Z"},
    }


def state(number: int) -> tuple[State, dict[str, LivePod]]:
    """Return so many pods in state, and the mirror of the watch that holds the same objects.

    They are read from bytes, as from a watch.
    """
    made, mirror = State(), dict[str, LivePod]()
    for each in range(number):
        obj = pod(each)
        seen = live(_decode(json.dumps(obj)))
        uid = seen.metadata.uid
        mirror[f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"] = seen
        if is_steered(seen):
            made.steered.put(owner_and_key(seen)[1], uid, seen)
        if seen.exclusive:
            made.exclusive.put(seen.exclusive.node, uid, seen.exclusive)
    return made, mirror


def rejections(owners: int, known: Nodes) -> Ledger:
    """Return the evidence of so many looping owners on these nodes."""
    ledger = Ledger(timedelta(0))
    for of in range(owners):
        for n, facts in enumerate(known.facts[:REJECTED_ON]):
            uid = f"rejected-{of}-{n}"
            at = NOW - timedelta(seconds=30 + n)
            number = of * LOOPING
            kind, reason = Kind.NO_ALIGNED_NUMA, "TopologyAffinityError"
            found = Rejection(uid, owner(number), facts.name, kind, reason, at, _namespace(number))
            ledger.pod(found, NOW)
    return ledger


def snapshot(known: Nodes, owners: int) -> Snapshot:
    """Return what a decision looks at."""
    return Snapshot(nodes=known, evidence=rejections(owners, known))
