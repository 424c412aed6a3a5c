"""Workloads of Guaranteed pods, as small as they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from e2e.counter import WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from e2e.api import Object

IMAGE: Final = "registry.k8s.io/pause:3.10"


def containers(*cpus: str) -> list[Object]:
    """Make a container for each CPU amount, request = limit."""
    return [
        {
            "name": f"c{number}",
            "image": IMAGE,
            "resources": {"limits": {"cpu": cpu, "memory": "64Mi"}},
        }
        for number, cpu in enumerate(cpus)
    ]


def only_on(hosts: Sequence[str]) -> Object:
    """Make the affinity to these nodes, by their label kubernetes.io/hostname."""
    wanted = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _spec(hosts: Sequence[str], cpus: Sequence[str], more: Object) -> Object:
    return {
        "terminationGracePeriodSeconds": 1,
        "affinity": only_on(hosts),
        "containers": containers(*cpus),
        **more,
    }


def pod(namespace: str, name: str, hosts: Sequence[str], *cpus: str, **more: Any) -> Object:  # noqa: ANN401  of PodSpec
    """Make a pod that nobody controls."""
    meta = {"name": name, "namespace": namespace, "labels": {WORKLOAD: name}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": _spec(hosts, cpus, more),
    }


def workload(
    kind: str,
    namespace: str,
    name: str,
    hosts: Sequence[str],
    *cpus: str,
    replicas: int = 1,
    **more: Any,  # noqa: ANN401  of PodSpec
) -> Object:
    """Make a workload of any kind that makes pods."""
    template = {
        "metadata": {"labels": {WORKLOAD: name}},
        "spec": _spec(hosts, cpus, more),
    }
    spec: Object = {"replicas": replicas, "selector": {"matchLabels": {WORKLOAD: name}}}
    version = "apps/v1"
    if kind == "StatefulSet":
        spec["serviceName"] = name
    elif kind == "ReplicationController":
        version, spec["selector"] = "v1", {WORKLOAD: name}
    elif kind == "Job":
        version = "batch/v1"
        spec = {"parallelism": replicas, "completions": replicas, "backoffLimit": 6}
        template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**spec, "template": template},
    }
