"""Objects of Kubernetes for tests: sane defaults, and a test says only what matters to it.

Each builder changes itself and returns itself; `.obj` is the object as the API server sends it.
The shortest pod is a Guaranteed one with two whole CPUs: already aligned, so nothing is done to it.
"""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from apiserver import PREFERRED, REQUIRED

from evencore.domain.collect import collect
from evencore.domain.lenient import read
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from evencore.domain.snapshot import Snapshot

NOW = datetime(2026, 3, 1, 10, 40, tzinfo=UTC)
UID = "6ad7ee34-0000-4000-8000-000000000001"


class _Object:
    """What all objects have: metadata."""

    def __init__(self, api_version: str, kind: str, name: str | None, **rest: object) -> None:
        metadata: dict[str, Any] = {} if name is None else {"name": name}
        self.obj: dict[str, Any] = {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": metadata,
            **rest,
        }

    def label(self, key: str, value: object) -> Self:
        self.obj["metadata"].setdefault("labels", {})[key] = str(value)
        return self

    def annotate(self, key: str, value: str) -> Self:
        self.obj["metadata"].setdefault("annotations", {})[key] = value
        return self

    def metadata(self, **fields: object) -> Self:
        """Set fields of metadata as they are, null included."""
        self.obj["metadata"] |= fields
        return self


class Container:
    """A container; `cpu` and `memory` are request and limit."""

    def __init__(self, name: str, cpu: object, memory: object) -> None:
        amounts = {k: v for k, v in (("cpu", cpu), ("memory", memory)) if v is not None}
        self.obj: dict[str, Any] = {"name": name, "image": "registry.example/a:1"}
        if amounts:
            self.obj["resources"] = {"requests": dict(amounts), "limits": dict(amounts)}

    def requests(self, value: object) -> Self:
        """Set the whole map of requests, or null."""
        return self._set("requests", value)

    def limits(self, value: object) -> Self:
        """Set the whole map of limits, or null."""
        return self._set("limits", value)

    def without_requests(self) -> Self:
        """Leave the requests to the defaulting of the API server."""
        del self.obj["resources"]["requests"]
        return self

    def also(self, resource: str, amount: object) -> Self:
        """Ask for something else as well."""
        self.obj["resources"]["requests"][resource] = amount
        self.obj["resources"]["limits"][resource] = amount
        return self

    def sidecar(self) -> Self:
        """Make an init container one that keeps running."""
        self.obj["restartPolicy"] = "Always"
        return self

    def _set(self, part: str, value: object) -> Self:
        self.obj.setdefault("resources", {})[part] = value
        return self


class Pod(_Object):
    """A pod."""

    def __init__(self, name: str | None) -> None:
        super().__init__("v1", "Pod", name, spec={"containers": [container().obj]})

    def cpu(self, value: object) -> Self:
        """Give the pod one container with this CPU request and limit."""
        return self.containers(container(cpu=value))

    def containers(self, *containers: Container) -> Self:
        return self.spec(containers=[c.obj for c in containers])

    def inits(self, *containers: Container) -> Self:
        return self.spec(initContainers=[c.obj for c in containers])

    def spec(self, **fields: object) -> Self:
        """Set fields of spec as they are, null included."""
        self.obj["spec"] |= fields
        return self

    def owner(
        self, uid: str = "rs-1", kind: str = "ReplicaSet", *, controller: bool = True
    ) -> Self:
        api_version = {"Job": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
        reference = {"apiVersion": api_version, "kind": kind, "name": "app", "uid": uid}
        owners = self.obj["metadata"].setdefault("ownerReferences", [])
        owners.append(reference | {"controller": controller})
        return self

    def required(self, *terms: dict[str, Any]) -> Self:
        """Set the ORed terms of the required node affinity."""
        self._node_affinity()[REQUIRED] = {"nodeSelectorTerms": list(terms)}
        return self

    def preferred(self, *terms: dict[str, Any], weight: int = 10) -> Self:
        self._node_affinity()[PREFERRED] = [
            {"weight": weight, "preference": term} for term in terms
        ]
        return self

    def _node_affinity(self) -> dict[str, Any]:
        affinity: dict[str, Any] = self.obj["spec"].setdefault("affinity", {})
        found: dict[str, Any] = affinity.setdefault("nodeAffinity", {})
        return found

    def rejected(
        self,
        node: str,
        reason: str = "TopologyAffinityError",
        message: str = "Pod was rejected: Resources cannot be allocated with Topology locality",
        ago: timedelta = timedelta(seconds=10),
    ) -> Self:
        """Make it a pod that the kubelet of `node` refused."""
        at = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.obj["status"] = {
            "phase": "Failed",
            "reason": reason,
            "message": message,
            "startTime": at,
        }
        return self.spec(nodeName=node)

    @property
    def view(self) -> PodView:
        """The pod as the domain sees it; it must be readable without problems."""
        view, problems = read(PodView, self.obj)
        assert not problems, problems
        return view


class Node(_Object):
    """A node as an informer of metadata sees it."""

    def __init__(self, name: str) -> None:
        super().__init__("v1", "Node", name)

    def named(self) -> Self:
        """Set the label by which exclusions find the node."""
        return self.label("evencore.io/node", self.obj["metadata"]["name"])

    def width(self, threads: int) -> Self:
        return self.label("evencore.io/threads-per-core", threads)

    def largest(self, container: int, pod: int | None = None) -> Self:
        """Set the labels of the largest container and of the largest pod that fit."""
        self.label("evencore.io/max-container-cpus", container)
        return self.label("evencore.io/max-pod-cpus", container if pod is None else pod)

    def topology(self, **facts: object) -> Self:
        """Let an admin write what cannot be seen from outside."""
        return self.annotate("evencore.io/topology", json.dumps(facts))


class NodeTopology(_Object):
    """A NodeResourceTopology."""

    def __init__(self, name: str) -> None:
        super().__init__("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", name)

    def numa(self, *cpus: object) -> Self:
        """Set the allocatable CPUs of each NUMA node."""
        self.obj["zones"] = [
            {
                "name": f"node-{number}",
                "type": "Node",
                "resources": [{"name": "cpu", "allocatable": amount, "capacity": amount}],
            }
            for number, amount in enumerate(cpus)
        ]
        return self

    def attribute(self, name: str, value: str) -> Self:
        self.obj.setdefault("attributes", []).append({"name": name, "value": value})
        return self

    def policies(self, *names: str) -> Self:
        """Set the deprecated field topologyPolicies."""
        self.obj["topologyPolicies"] = list(names)
        return self


class LimitRange(_Object):
    """A LimitRange."""

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__("v1", "LimitRange", name, spec={"limits": []})
        self.metadata(namespace=namespace)

    def maximum(self, cpu: object, kind: str = "Container") -> Self:
        self.obj["spec"]["limits"].append({"type": kind, "max": {"cpu": cpu}})
        return self


class Review:
    """An AdmissionReview of the creation of a pod."""

    def __init__(self, obj: object) -> None:
        self.request: dict[str, Any] = {
            "uid": UID,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "apps",
            "operation": "CREATE",
            "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
            "object": copy.deepcopy(obj),
            "oldObject": None,
            "dryRun": False,
        }
        self.obj: dict[str, Any] = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": self.request,
        }

    def with_(self, **fields: object) -> Self:
        """Set fields of the request as they are."""
        self.request |= fields
        return self

    @property
    def body(self) -> bytes:
        """What the API server posts."""
        return json.dumps(self.obj).encode()


def pod(name: str | None = "app-1") -> Pod:
    return Pod(name)


def container(name: str = "app", cpu: object = "2", memory: object = "1Gi") -> Container:
    return Container(name, cpu, memory)


def node(name: str) -> Node:
    return Node(name)


def node_topology(name: str) -> NodeTopology:
    return NodeTopology(name)


def limit_range(name: str = "lr", namespace: str = "apps") -> LimitRange:
    return LimitRange(name, namespace)


def namespace(name: str = "apps") -> _Object:
    return _Object("v1", "Namespace", name)


def failed(node_name: str, owner: str = "rs-1", number: int = 1) -> Pod:
    """Return a pod of an owner that the kubelet of a node refused."""
    made = pod(f"failed-{node_name}-{number}").owner(owner).rejected(node_name)
    return made.metadata(namespace="apps", uid=f"{owner}/{node_name}/{number}")


def review(obj: object) -> Review:
    return Review(obj.obj if isinstance(obj, _Object) else obj)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    """Return one requirement."""
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


def labels(*requirements: dict[str, Any]) -> dict[str, Any]:
    """Return a term on labels."""
    return {"matchExpressions": list(requirements)}


def fields(*requirements: dict[str, Any]) -> dict[str, Any]:
    """Return a term on fields."""
    return {"matchFields": list(requirements)}


def snapshot(*objects: _Object) -> Snapshot:
    """Return the cluster that has these objects and no others."""
    return collect(o.obj for o in objects).snapshot
