"""The tables of what makes pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.clock import parse_timestamp
from simulator.objects import controller_of, dig
from simulator.printing.cells import (
    AGE,
    NAME,
    Column,
    Printer,
    age_of,
    containers_and_images,
    duration,
    map_text,
    selector_text,
    wide,
)

if TYPE_CHECKING:
    from simulator.objects import Object

_WIDE: Final = wide("Containers", "Images", "Selector")


def _counts(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, type="integer") for name in names)


def _parts(obj: Object) -> tuple[str, Object, Object]:
    return obj["metadata"].get("name", ""), obj.get("spec") or {}, obj.get("status") or {}


def _tail(spec: Object) -> list[str]:
    return [*containers_and_images(spec.get("template") or {}), selector_text(spec.get("selector"))]


def _deployment(obj: Object, now: float) -> list[Any]:
    name, spec, status = _parts(obj)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    counts = [status.get("updatedReplicas", 0), status.get("availableReplicas", 0)]
    return [name, ready, *counts, age_of(obj, now), *_tail(spec)]


def _replica_set(obj: Object, now: float) -> list[Any]:
    name, spec, status = _parts(obj)
    counts = [spec.get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
    return [name, *counts, age_of(obj, now), *_tail(spec)]


def _replication_controller(obj: Object, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    return [*_replica_set(obj, now)[:-1], map_text(spec.get("selector"))]


def _stateful_set(obj: Object, now: float) -> list[Any]:
    name, spec, status = _parts(obj)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [name, ready, age_of(obj, now), *_tail(spec)[:2]]


def _daemon_set(obj: Object, now: float) -> list[Any]:
    name, spec, status = _parts(obj)
    counts = [
        status.get(f"{part}", 0)
        for part in (
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberAvailable",
        )
    ]
    node_selector = map_text(dig(spec, "template", "spec", "nodeSelector"))
    return [name, *counts, node_selector, age_of(obj, now), *_tail(spec)]


def _revision(obj: Object, now: float) -> list[Any]:
    owner = controller_of(obj)
    of = "<none>"
    if owner is not None:
        group = owner["apiVersion"].partition("/")[0]
        of = f"{owner['kind'].lower()}.{group}/{owner['name']}"
    return [obj["metadata"].get("name", ""), of, obj.get("revision", 0), age_of(obj, now)]


def _job(obj: Object, now: float) -> list[Any]:
    name, spec, status = _parts(obj)
    return [
        name,
        _job_status(obj, status),
        _completions(spec, status),
        _took(status, now),
        age_of(obj, now),
        *_tail(spec),
    ]


def _job_status(obj: Object, status: Object) -> str:
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    for condition, shown in (("Complete", "Complete"), ("Failed", "Failed")):
        if condition in true:
            return shown
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    for condition in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition in true:
            return condition
    return "Running"


def _completions(spec: Object, status: Object) -> str:
    done = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallel = spec.get("parallelism") or 0
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _took(status: Object, now: float) -> str:
    if not status.get("startTime"):
        return ""
    end = status.get("completionTime")
    return duration((parse_timestamp(end) if end else now) - parse_timestamp(status["startTime"]))


_OF_SETS: Final = (NAME, *_counts("Desired", "Current", "Ready"), AGE, *_WIDE)

PRINTERS: Final = {
    "deployments.apps": Printer(
        (NAME, Column("Ready"), Column("Up-to-date"), Column("Available"), AGE, *_WIDE),
        _deployment,
    ),
    "replicasets.apps": Printer(_OF_SETS, _replica_set),
    "replicationcontrollers": Printer(_OF_SETS, _replication_controller),
    "statefulsets.apps": Printer((NAME, Column("Ready"), AGE, *_WIDE[:2]), _stateful_set),
    "daemonsets.apps": Printer(
        (
            NAME,
            *_counts("Desired", "Current", "Ready", "Up-to-date", "Available"),
            Column("Node Selector"),
            AGE,
            *_WIDE,
        ),
        _daemon_set,
    ),
    "controllerrevisions.apps": Printer(
        (NAME, Column("Controller"), Column("Revision", type="integer"), AGE), _revision
    ),
    "jobs.batch": Printer(
        (NAME, Column("Status"), Column("Completions"), Column("Duration"), AGE, *_WIDE), _job
    ),
}
