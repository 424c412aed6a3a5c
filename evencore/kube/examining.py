"""What the doctor reads of a cluster and tries out on it. It leaves no object behind.

What may not be read is told, not raised: not knowing is not healthy, and not ill either.
Not for: the meaning; that is `evencore.doctor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from evencore.domain import names
from evencore.kube.dump import TOPOLOGIES, listed
from evencore.kube.errors import Forbidden, KubeError, NotFound
from evencore.kube.gathering import PARTS
from evencore.kube.resource import Resource
from evencore.kube.source import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from evencore.kube.client import Client

CONFIGURATIONS: Final = Resource(
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
)
_READ: Final = (
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", CONFIGURATIONS),
    ("namespaces", "Namespace", NAMESPACES),
    ("nodes", "Node", Resource("/api/v1/nodes")),
    ("noderesourcetopologies", "NodeResourceTopology", TOPOLOGIES),
    ("pods", "Pod", Resource("/api/v1/pods", field_selector="status.phase!=Succeeded")),
    *(
        ("events", part.kind, part.resource)
        for name, part in PARTS.items()
        if part.kind == "Event" and name != "clean-ups"
    ),
)
_APIS: Final = {
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets/{}",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets/{}",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets/{}",
    "Job": "/apis/batch/v1/namespaces/{}/jobs/{}",
    "ReplicationController": "/api/v1/namespaces/{}/replicationcontrollers/{}",
}
_SERVER_ERROR: Final = 500


class Refused(NamedTuple):
    """Something may not be read."""

    why: str


def read_all(client: Client, take: Callable[[dict[str, Any]], None]) -> dict[str, str]:
    """Hand over all objects as they come; returns resource → why it could not be read.

    Raises KubeError if the cluster does not answer.
    """
    missing: dict[str, str] = {}
    for name, kind, resource in _READ:
        try:
            for item in listed(client, resource, kind):
                take(item)
        except NotFound:
            if resource is not TOPOLOGIES:  # not every cluster has that kind
                raise
        except Forbidden as error:
            missing.setdefault(name, str(error))
    return missing


def read_lease(client: Client, namespace: str, name: str) -> dict[str, Any] | Refused | None:
    """Read the Lease of the controllers; None if there is none."""
    path = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}"
    return _get(client, path.format(quote(namespace, ""), quote(name, "")))


def read_owner(
    client: Client, kind: str, namespace: str, name: str
) -> dict[str, Any] | Refused | None:
    """Read what makes pods; None if it is gone, or of a kind whose API we do not know."""
    path = _APIS.get(kind)
    if path is None:
        return None
    return _get(client, path.format(quote(namespace, ""), quote(name, "")))


def read_endpoints(
    client: Client, namespace: str, service: str
) -> list[dict[str, Any]] | Refused | None:
    """Read the EndpointSlices of a Service; None where that API is not served."""
    resource = Resource(
        f"/apis/discovery.k8s.io/v1/namespaces/{quote(namespace, '')}/endpointslices",
        label_selector=f"kubernetes.io/service-name={service}",
    )
    try:
        return list(listed(client, resource, "EndpointSlice"))
    except NotFound:
        return None
    except Forbidden as error:
        return Refused(str(error))


class Answer(NamedTuple):
    """What came of creating a pod for trial."""

    pod: dict[str, Any] | None  # as it would have been created
    failed: bool = False  # because of a webhook
    text: str = ""


def try_pod(client: Client, namespace: str) -> Answer:
    """Create a Guaranteed pod of 2500m with dryRun=All: everything is done but keeping it.

    The annotation asks for alignment whatever namespace and policy say by default.
    """
    path = f"/api/v1/namespaces/{quote(namespace, '')}/pods"
    try:
        answer = client.write("POST", path, _TRIAL, [("dryRun", "All")])
        return Answer(msgspec.json.decode(answer, type=dict[str, Any]))
    except KubeError as error:
        failed = error.status == _SERVER_ERROR and "webhook" in str(error)
        return Answer(None, failed, str(error))
    except msgspec.DecodeError as error:
        return Answer(None, text=f"the answer cannot be read: {error}")


def _get(client: Client, path: str) -> dict[str, Any] | Refused | None:
    try:
        reply = client.get(path)
        try:
            return msgspec.json.decode(reply.read(), type=dict[str, Any])
        finally:
            reply.close()
    except NotFound:
        return None
    except Forbidden as error:
        return Refused(str(error))


_AMOUNTS: Final = {"cpu": "2500m", "memory": "64Mi"}
_TRIAL: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "generateName": "evencore-doctor-",
        "annotations": {names.CPU: "round-up"},
        "labels": {"app.kubernetes.io/name": "evencore-doctor"},
    },
    "spec": {
        # As the strictest of the Pod Security Standards wants it.
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "trial",
                "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": _AMOUNTS, "limits": _AMOUNTS},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}
"""The pod that is never kept."""
