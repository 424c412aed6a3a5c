"""What the tests of the controller share: pods and nodes as it sees them, a server to write to."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from controller.state import Rejected
from controller.views import FullNode, LivePod, WatchedPod, live
from evencore.domain import names
from evencore.domain.ledger import Ledger
from evencore.domain.rejection import rejection_of
from evencore.domain.snapshot import Snapshot
from evencore.domain.views import FailedPodView, NamespaceView
from evencore.kube.client import Client, connect
from evencore.kube.events import rfc3339
from evencore.kube.writer import NAME, Writer
from simulator.server import ApiServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from simulator.faults import Fault, Switch

Object = dict[str, Any]

NOW = datetime(2026, 3, 1, 10, 40, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
NUMA = ("TopologyAffinityError", "Pod was rejected: Resources cannot be allocated with Topology")
ODD = (
    "SMTAlignmentError",
    "Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
)
TAKES_PART = {names.ADMISSION: names.ENABLED}
REPLICA_SET = ("apps/v1", "ReplicaSet", "web-6d", "rs-1")
JOB = ("batch/v1", "Job", "sim", "job-1")
DATABASE = ("apps/v1", "StatefulSet", "db", "sts-1")
CUSTOM = ("example.io/v1", "Cluster", "k", "k-1")
NODE = ("v1", "Node", "n1", "node-1")

Reference = tuple[str, str, str, str]


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def reference(owner: Reference | None) -> list[Object]:
    if owner is None:
        return []
    api_version, kind, name, uid = owner
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}]


def pod(  # noqa: PLR0913  what a test may want to say of a pod
    name: str = "web-6d-a",
    *,
    owner: Reference | None = REPLICA_SET,
    uid: str = "",
    steering: str | None = None,
    gates: Iterable[str] = (),
    node: str | None = None,
    decision: str | None = None,
    made: datetime = NOW,
    **metadata: object,
) -> Object:
    """Return a Guaranteed pod with two CPUs, as the API server tells of it."""
    amounts = {"cpu": "2", "memory": "1Gi"}
    container = {
        "name": "a",
        "image": "registry.example/a:1",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": uid or f"uid-{name}",
            "labels": {names.STEERING: steering} if steering else {},
            "annotations": {names.DECISION: decision} if decision else {},
            "ownerReferences": reference(owner),
            "creationTimestamp": rfc3339(made),
            **metadata,
        },
        "spec": {
            "containers": [container],
            **({"nodeName": node} if node else {}),
            **({"schedulingGates": [{"name": gate} for gate in gates]} if gates else {}),
        },
        "status": {"phase": "Pending", "qosClass": "Guaranteed"},
    }


def held(name: str = "web-6d-a", **more: Any) -> Object:  # noqa: ANN401  as `pod` takes them
    return pod(name, steering=names.HELD, gates=[names.HOLD], decision="held, until 1", **more)


def admitted(obj: Object, node: str, since: datetime = NOW) -> Object:
    """Have a kubelet admit the pod."""
    obj["spec"]["nodeName"] = node
    obj["status"] |= {"startTime": rfc3339(since), "phase": "Running"}
    return obj


def kept_off(obj: Object, *nodes: str) -> Object:
    """Give the pod required affinity that keeps it off nodes, as rung 3 writes it."""
    expression = {"key": names.NODE, "operator": "NotIn", "values": list(nodes)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    obj["spec"]["affinity"] = {"nodeAffinity": wanted}
    return obj


def live_pod(obj: Object) -> LivePod:
    return live(msgspec.convert(obj, WatchedPod))


def failed(
    obj: Object, node: str = "n1", why: tuple[str, str] = NUMA, at: datetime = NOW
) -> Object:
    """Have the kubelet of a node refuse the pod."""
    obj["spec"]["nodeName"] = node
    made = obj["metadata"]["creationTimestamp"]
    obj["metadata"]["creationTimestamp"] = min(made, rfc3339(at))
    reason, message = why
    obj["status"] = {
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "startTime": rfc3339(at),
    }
    return obj


def failed_pod(obj: Object) -> FailedPodView:
    return msgspec.convert(obj, FailedPodView)


def rejected(*objects: Object) -> dict[str, Rejected]:
    """Return failed pods as the state keeps them."""
    found = {}
    for obj in objects:
        view = failed_pod(obj)
        rejection = rejection_of(view)
        assert rejection is not None
        found[rejection.uid] = Rejected(view, rejection)
    return found


def node(name: str = "n1", *, made: datetime = LONG_AGO, cpu: str = "46", **more: str) -> FullNode:
    """Return a node; `more`: its labels, with _ for what Python does not allow in names."""
    metadata = {"name": name, "uid": f"uid-{name}", "creationTimestamp": rfc3339(made)}
    annotations = {names.ROOM_SINCE: more.pop("room")} if "room" in more else {}
    obj = {
        "metadata": {**metadata, "labels": more, "annotations": annotations},
        "status": {"allocatable": {"cpu": cpu}},
    }
    return msgspec.convert(obj, FullNode)


def snapshot(*pods: Object, labels: Object | None = None) -> Snapshot:
    """Return what is known when these failed pods are, of a namespace that takes part."""
    ledger = Ledger()
    for one in rejected(*pods).values():
        ledger.pod(one.rejection, NOW)
    namespace = {"metadata": {"name": "shop", "labels": TAKES_PART if labels is None else labels}}
    return Snapshot(namespaces={"shop": msgspec.convert(namespace, NamespaceView)}, evidence=ledger)


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Kube(NamedTuple):
    """A server, our client and writer, and the one ReplicaSet that is there: web-6d."""

    server: ApiServer
    client: Client
    writer: Writer
    owner: Reference

    def make(self, obj: Object, path: str = "/api/v1/namespaces/shop/pods") -> Object:
        """Create an object, status included; returns it as it is then."""
        status = obj.get("status", {})
        metadata = {k: v for k, v in obj["metadata"].items() if k != "uid"}
        if metadata.get("ownerReferences") == reference(REPLICA_SET):
            metadata["ownerReferences"] = reference(self.owner)  # else it would be collected
        made = json.loads(self.client.write("POST", path, {**obj, "metadata": metadata}))
        if status:
            where = f"{path}/{metadata['name']}/status"
            merge = "application/merge-patch+json"
            made = json.loads(
                self.client.write("PATCH", where, {"status": status}, content_type=merge)
            )
        return dict(made)

    def read(self, path: str) -> Object:
        reply = self.client.get(path)
        try:
            return dict(json.loads(reply.read()))
        finally:
            reply.close()

    def names(self, path: str = "/api/v1/namespaces/shop/pods") -> set[str]:
        return {item["metadata"]["name"] for item in self.read(path)["items"]}

    def events(self) -> list[Object]:
        return list(self.read("/api/v1/namespaces/shop/events")["items"])

    def fault(self, fault: Fault) -> Switch:
        return self.server.call(lambda: self.server.faults.on(fault))


@contextmanager
def kube(directory: Path) -> Iterator[Kube]:
    """Run an API server with the namespace shop and nobody else in the cluster."""
    with ApiServer() as server:
        path = directory / "kubeconfig"
        path.write_text(server.kubeconfig())
        client = connect(str(path), agent=NAME)
        shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        client.write("POST", "/api/v1/namespaces", shop)
        answer = client.write("POST", "/apis/apps/v1/namespaces/shop/replicasets", _replica_set())
        owner = (*REPLICA_SET[:3], json.loads(answer)["metadata"]["uid"])
        writer = Writer(client, threading.Event(), random=lambda: 0.0)
        yield Kube(server, client, writer, owner)
        client.close()


def _replica_set() -> Object:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-6d"},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }
