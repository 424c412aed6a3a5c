"""Pods as an API server sends them, 8 KB each: a recorded one, grown as those of teams are."""

import copy
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .pattern import Object, Pattern

_CAPTURE = Path(__file__).parents[2] / "captures" / "06-update-status-gen-fraction.json"
_SETTINGS = 11
"""Environment variables of the app; with them a pod has about 8 KB."""

_REASON = "TopologyAffinityError"
_MESSAGE = "Pod was rejected: Resources cannot be allocated with Topology locality"


def stamp(ago: timedelta) -> str:
    """Return a time as Kubernetes writes it."""
    return (datetime.now(UTC) - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def ordinary() -> Pattern:
    """Return a pod that has nothing to do with us: it is not Guaranteed."""
    return Pattern(_running(_pod("900m", "1500m")))


def pinned() -> Pattern:
    """Return a pod with CPUs of its own that needed no change."""
    return Pattern(_running(_pod("4", "4")))


def aligned() -> Pattern:
    """Return a pod that the webhook changed."""
    return Pattern(_running(_ours(_pod("4", "4"))))


def placed() -> Pattern:
    """Return such a pod, new: nobody has chosen a node for it."""
    obj = _ours(_pod("4", "4"))
    del obj["spec"]["nodeName"]
    return Pattern(obj)


def held() -> Pattern:
    """Return a pod that waits for us."""
    return Pattern(_held(_ours(_pod("4", "4"))))


def released() -> Pattern:
    """Return a pod that was held, let go."""
    obj = _ours(_pod("4", "4"))
    obj["metadata"]["labels"]["evencore.io/steering"] = "released"
    return Pattern(obj)


def leaving() -> Pattern:
    """Return a pod that is on its way out."""
    obj = _running(_pod("4", "4"))
    obj["metadata"] |= {"deletionTimestamp": "<made>", "deletionGracePeriodSeconds": 30}
    return Pattern(obj)


def rejected() -> Pattern:
    """Return a pod that its kubelet refused, of a Job: its controller keeps it."""
    obj = _pod("4", "4")
    obj["metadata"]["ownerReferences"][0] |= {"apiVersion": "batch/v1", "kind": "Job"}
    obj["status"] = {
        "phase": "Failed",
        "reason": _REASON,
        "message": _MESSAGE,
        "startTime": "<made>",
        "qosClass": "Guaranteed",
        "observedGeneration": 1,
    }
    return Pattern(obj)


def rejection_event() -> Pattern:
    """Return the Event that the kubelet wrote of it."""
    metadata = {"name": "<name>.18", "namespace": "<namespace>", "uid": "e<uid>"}
    return Pattern(
        {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                **metadata,
                "resourceVersion": "<version>",
                "creationTimestamp": "<made>",
            },
            "involvedObject": {
                "kind": "Pod",
                "namespace": "<namespace>",
                "name": "<name>",
                "uid": "<uid>",
                "apiVersion": "v1",
            },
            "reason": _REASON,
            "message": _MESSAGE.removeprefix("Pod was rejected: "),
            "source": {"component": "kubelet", "host": "<node>"},
            "firstTimestamp": "<made>",
            "lastTimestamp": "<made>",
            "count": 1,
            "type": "Warning",
            "eventTime": None,
            "reportingComponent": "kubelet",
            "reportingInstance": "<node>",
        }
    )


def _pod(request: str, limit: str) -> Object:
    """Return a pod that is bound, and whose kubelet has not said anything yet."""
    obj: Object = copy.deepcopy(json.loads(_CAPTURE.read_bytes())["request"]["object"])
    obj["metadata"] |= {
        "name": "<name>",
        "generateName": "<owner>-",
        "namespace": "<namespace>",
        "uid": "<uid>",
        "resourceVersion": "<version>",
        "creationTimestamp": "<made>",
        "labels": {
            "app.kubernetes.io/name": "<owner>",
            "app.kubernetes.io/instance": "<namespace>",
            "pod-template-hash": "6d8f5c7b9d",
        },
        "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "<owner>",
                "uid": "<owneruid>",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    spec = obj["spec"]
    spec["nodeName"] = "<node>"
    spec["initContainers"] = spec["initContainers"][1:]  # the sidecar
    for container in (*spec["initContainers"], *spec["containers"]):
        memory = container["resources"]["limits"]["memory"]
        container["resources"] = {
            "requests": {"cpu": request, "memory": memory},
            "limits": {"cpu": limit, "memory": memory},
        }
    _grow(spec["containers"][0], obj["metadata"]["managedFields"][0]["fieldsV1"])
    obj["status"] |= {"phase": "Pending", "qosClass": "Guaranteed"}
    obj["status"] = {k: v for k, v in obj["status"].items() if k != "startTime"}
    if request != limit:
        obj["status"]["qosClass"] = "Burstable"
    return obj


def _grow(container: Object, fields: Any) -> None:  # noqa: ANN401  JSON
    owned = fields["f:spec"]["f:containers"]['k:{"name":"app"}'].setdefault("f:env", {".": {}})
    for number in range(_SETTINGS):
        name = f"APP_SETTING_{number}"
        value = f"postgres://db-{number}.example:5432/app?pool={number}"
        container.setdefault("env", []).append({"name": name, "value": value})
        owned[f'k:{{"name":"{name}"}}'] = {".": {}, "f:name": {}, "f:value": {}}


def _running(obj: Object) -> Object:
    status = obj["status"]
    status |= {"phase": "Running", "startTime": "<made>", "podIP": "10.1.2.3"}
    for condition in status["conditions"]:
        condition["status"] = "True"
    for each in (*status["initContainerStatuses"], *status["containerStatuses"]):
        each |= {
            "state": {"running": {"startedAt": "<made>"}},
            "ready": True,
            "started": True,
            "containerID": "containerd://<uid><uid>",
        }
    return obj


def _ours(obj: Object) -> Object:
    obj["metadata"]["annotations"] |= {
        "evencore.io/decision": "container app: cpu 3 → 4, whole cores of 2 threads",
        "evencore.io/original-cpu": '{"app":"3"}',
    }
    return obj


def _held(obj: Object) -> Object:
    meta, spec = obj["metadata"], obj["spec"]
    meta["labels"]["evencore.io/steering"] = "held"
    meta["annotations"]["evencore.io/decision"] += "; held: 3 rejections within 10 min"
    del spec["nodeName"]
    spec["schedulingGates"] = [{"name": "evencore.io/hold"}]
    obj["status"] = {"phase": "Pending", "qosClass": "Guaranteed"}
    return obj
