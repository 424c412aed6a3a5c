"""Nodes as an API server sends them, 11 KB each, and what else is there once per something."""

from .pattern import Object, Pattern

_IMAGES = 40
"""As many as a kubelet tells of at most are 50."""
_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


def node() -> Pattern:
    """Return a node, labelled as the controller labels it."""
    return Pattern(_node())


def node_metadata() -> Pattern:
    """Return what a server sends of it if only metadata is asked for."""
    return metadata_of(_node())


def metadata_of(obj: Object) -> Pattern:
    """Return an object as PartialObjectMetadata."""
    return Pattern(
        {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": obj["metadata"],
        }
    )


def new_node() -> Pattern:
    """Return a node that nobody has labelled yet."""
    obj = _node()
    labels = obj["metadata"]["labels"]
    obj["metadata"]["labels"] = {k: v for k, v in labels.items() if not k.startswith("evencore")}
    return Pattern(obj)


def namespace() -> Pattern:
    """Return a namespace that takes part."""
    return metadata_of(
        {
            "metadata": {
                "name": "<namespace>",
                "uid": "<uid>",
                "resourceVersion": "<version>",
                "creationTimestamp": "<made>",
                "labels": {
                    "kubernetes.io/metadata.name": "<namespace>",
                    "evencore.io/admission": "enabled",
                },
                "annotations": {"team.example/owner": "<namespace>@team.example"},
            }
        }
    )


def limit_range() -> Pattern:
    """Return a LimitRange with a maximum."""
    limit = {"type": "Container", "max": {"cpu": "64", "memory": "256Gi"}}
    return Pattern(
        {
            "metadata": {
                "name": "limits",
                "namespace": "<namespace>",
                "uid": "<uid>",
                "resourceVersion": "<version>",
            },
            "spec": {"limits": [limit]},
        }
    )


def kubelet_start() -> Pattern:
    """Return the Event of a kubelet that has started."""
    return Pattern(
        {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                "name": "<node>.17",
                "namespace": "default",
                "uid": "<uid>",
                "resourceVersion": "<version>",
                "creationTimestamp": "<made>",
            },
            "involvedObject": {"kind": "Node", "name": "<node>", "uid": "<node>"},
            "reason": "Starting",
            "message": "",
            "source": {"component": "kubelet", "host": "<node>"},
            "firstTimestamp": "<made>",
            "lastTimestamp": "<made>",
            "count": 1,
            "type": "Normal",
            "eventTime": None,
        }
    )


def _node() -> Object:
    amounts = {
        "cpu": "48",
        "ephemeral-storage": "459521064Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "196608Mi",
        "pods": "110",
    }
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": "m7.metal-48",
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": "region-1",
        "failure-domain.beta.kubernetes.io/zone": "<zone>",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "<node>",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m7.metal-48",
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": "<zone>",
        "evencore.io/node": "<node>",
        "evencore.io/threads-per-core": "2",
        "evencore.io/max-container-cpus": "<most>",
        "evencore.io/max-pod-cpus": "44",
    }
    labelled: Object = {f"f:{key}": {} for key in labels}
    return {
        "metadata": {
            "name": "<node>",
            "uid": "<uid>",
            "resourceVersion": "<version>",
            "creationTimestamp": "<made>",
            "labels": labels,
            "annotations": {
                "csi.volume.kubernetes.io/nodeid": '{"csi.example":"i-<node>"}',
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
            "managedFields": [
                _fields("kubelet", {"f:metadata": {"f:labels": {".": {}, **labelled}}}),
                _fields("kube-controller-manager", {"f:spec": {"f:podCIDR": {}}}),
                _fields(
                    "kubelet",
                    {
                        "f:status": {
                            "f:allocatable": {f"f:{name}": {} for name in amounts},
                            "f:capacity": {f"f:{name}": {} for name in amounts},
                            "f:conditions": {
                                f'k:{{"type":"{kind}"}}': {"f:lastHeartbeatTime": {}}
                                for kind in _CONDITIONS
                            },
                            "f:images": {},
                        }
                    },
                ),
            ],
        },
        "spec": {"podCIDR": "10.1.2.0/24", "podCIDRs": ["10.1.2.0/24"], "providerID": "x://<node>"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": "True" if kind == "Ready" else "False",
                    "lastHeartbeatTime": "<beat>",
                    "lastTransitionTime": "<made>",
                    "reason": f"Kubelet{kind}",
                    "message": f"kubelet tells of {kind}",
                }
                for kind in _CONDITIONS
            ],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "kernelVersion": "6.12.0",
                "kubeletVersion": "v1.36.2",
                "architecture": "amd64",
                "containerRuntimeVersion": "containerd://2.2.0",
            },
            "images": [_image(number) for number in range(_IMAGES)],
        },
    }


def _fields(manager: str, fields: Object) -> Object:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "<made>",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _image(number: int) -> Object:
    name = f"registry.example/team-{number}/app"
    digest = f"{number:064x}"
    return {"names": [f"{name}@sha256:{digest}", f"{name}:1.{number}"], "sizeBytes": 10**8 + number}
