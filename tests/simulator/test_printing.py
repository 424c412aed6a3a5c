"""What `kubectl get` shows of objects in every state."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import resources
from simulator.clock import timestamp
from simulator.printing import table
from simulator.printing.cells import duration

NOW = 1_800_000_000.0
DURATIONS = {
    -5: "0s",
    0: "0s",
    119: "119s",
    150: "2m30s",
    180: "3m",
    600: "10m",
    3 * 3600 + 300: "3h5m",
    8 * 3600: "8h",
    49 * 3600: "2d1h",
    10 * 86400: "10d",
    800 * 86400: "2y70d",
    9 * 365 * 86400: "9y",
}


@pytest.mark.parametrize(("seconds", "want"), DURATIONS.items())
def test_spans(seconds: int, want: str) -> None:
    assert duration(seconds) == want


def shown(resource: resources.Resource, obj: dict[str, Any]) -> dict[str, Any]:
    """Give the cells of an object by the names of their columns."""
    created = timestamp(NOW - 60)
    obj = {
        "metadata": {"name": "x", "creationTimestamp": created, **obj.pop("metadata", {})},
        **obj,
    }
    (row,) = table.rows(resource, [obj], "None", NOW)
    names = [column["name"] for column in table.columns(resource)]
    return dict(zip(names, row["cells"], strict=True))


def container(**state: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON value
    return {"name": "a", "ready": "running" in state, "restartCount": 0, "state": state}


PODS = {
    "its phase": ({"phase": "Pending"}, {}, "Pending"),
    "its reason": ({"phase": "Failed", "reason": "SMTAlignmentError"}, {}, "SMTAlignmentError"),
    "gates": (
        {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
            ],
        },
        {},
        "SchedulingGated",
    ),
    "a container that waits": (
        {
            "phase": "Pending",
            "containerStatuses": [container(waiting={"reason": "ContainerCreating"})],
        },
        {},
        "ContainerCreating",
    ),
    "a container that ended": (
        {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 3})]},
        {},
        "ExitCode:3",
    ),
    "deletion": ({"phase": "Running"}, {"deletionTimestamp": timestamp(NOW)}, "Terminating"),
}


@pytest.mark.parametrize(("status", "metadata", "want"), PODS.values(), ids=PODS)
def test_the_status_of_a_pod(status: dict[str, Any], metadata: dict[str, Any], want: str) -> None:
    obj = {"metadata": metadata, "spec": {"containers": [{}]}, "status": status}
    assert shown(resources.PODS, obj)["Status"] == want


def test_a_running_pod() -> None:
    running = container(running={})
    ended = {"terminated": {"finishedAt": timestamp(NOW - 90)}}
    running |= {"restartCount": 2, "lastState": ended}
    status = {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [running]}
    spec = {"containers": [{}, {}], "nodeName": "n1"}
    cells = shown(resources.PODS, {"spec": spec, "status": status})
    assert (cells["Ready"], cells["Restarts"], cells["Age"]) == ("1/2", "2 (90s ago)", "60s")
    assert (cells["IP"], cells["Node"], cells["Readiness Gates"]) == ("10.0.0.1", "n1", "<none>")


def test_nodes_workloads_jobs_and_events() -> None:
    conditions = [{"type": "Ready", "status": "False"}]
    node = shown(
        resources.NODES, {"spec": {"unschedulable": True}, "status": {"conditions": conditions}}
    )
    assert (node["Status"], node["Roles"]) == ("NotReady,SchedulingDisabled", "<none>")
    template = {"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    replica_set = shown(resources.REPLICA_SETS, {"spec": spec, "status": {"replicas": 2}})
    assert [replica_set[name] for name in ("Desired", "Current", "Ready")] == [3, 2, 0]
    assert (replica_set["Images"], replica_set["Selector"]) == ("i,j", "app=x")
    failed = {"conditions": [{"type": "Failed", "status": "True"}], "startTime": timestamp(NOW - 5)}
    job = shown(resources.JOBS, {"spec": {"completions": 2}, "status": failed})
    assert (job["Status"], job["Completions"], job["Duration"]) == ("Failed", "0/2", "5s")
    event = shown(
        resources.EVENTS,
        {
            "involvedObject": {"kind": "Pod", "name": "p"},
            "source": {"component": "kubelet", "host": "n1"},
            "firstTimestamp": timestamp(NOW - 300),
            "lastTimestamp": timestamp(NOW - 10),
            "count": 4,
        },
    )
    assert (event["Last Seen"], event["Object"]) == ("10s (x4 over 5m)", "pod/p")
    assert event["Source"] == "kubelet, n1"


@pytest.mark.parametrize("resource", resources.ALL, ids=lambda one: one.qualified)
def test_every_kind_can_be_shown_when_it_is_bare(resource: resources.Resource) -> None:
    assert len(shown(resource, {})) == len(table.columns(resource))
