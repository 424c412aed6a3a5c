"""In-place resize: what a kubelet grants, what it cannot, and how it says so."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_still import Object, Still, cpus, done

from evencore.nodefiles.files import nodes_file
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.voice import Site
from simulator.resources import PODS
from simulator.scheduler.scheduler import Scheduler

PINNED = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"'
STATIC = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0"}


class Cluster(Still):
    """A node of eight CPUs."""

    def __init__(self, **kubelet: Any) -> None:  # noqa: ANN401  any part of a node file
        super().__init__()
        Scheduler(self.store, self.writes, at_once)
        node = {"name": "n1", "machine": {"coresPerSocket": 4}, "kubelet": kubelet}
        Fleet(Site(self.store, self.writes, at_once)).run(nodes_file({"nodes": [node]}).nodes)

    def resize(self, name: str = "p", **amounts: str) -> None:
        """Ask for other amounts, as requests and limits."""

        def change(obj: Object) -> Object:
            (container,) = obj["spec"]["containers"]
            wanted = {part: container["resources"][part] | amounts for part in REQUESTED}
            resized = [{**container, "resources": wanted}]
            return {**obj, "spec": {**obj["spec"], "containers": resized}}

        done(self.writes.update(Target(PODS, "default", name, "resize"), change, Call()))

    def pending(self, name: str = "p") -> Object | None:
        conditions = self.pod(name)["status"]["conditions"]
        return next((one for one in conditions if one["type"] == "PodResizePending"), None)

    def has(self, name: str = "p") -> Object:
        """Tell what the container has, as its status shows it."""
        (status,) = self.pod(name)["status"]["containerStatuses"]
        shown: Object = status["resources"]["requests"]
        assert status["allocatedResources"] == shown
        return shown


REQUESTED = ("requests", "limits")


def cluster_with(*amounts: str, **kubelet: Any) -> Cluster:  # noqa: ANN401  any part of a node file
    cluster = Cluster(**kubelet)
    for name, amount in zip("pqr", amounts, strict=False):
        cluster.add_pod(name, **cpus(amount))
    cluster.run(5)
    return cluster


@pytest.mark.parametrize("amount", ["2", "1500m"])
def test_a_static_cpu_manager_never_changes_the_cpus_of_a_guaranteed_pod(amount: str) -> None:
    cluster = cluster_with(amount, **STATIC)
    cluster.resize(cpu="4")
    cluster.run()
    pod, pending = cluster.pod(), cluster.pending()
    assert pending is not None
    assert {**pending, "lastProbeTime": "", "lastTransitionTime": ""} == {
        "type": "PodResizePending",
        "observedGeneration": 2,
        "status": "True",
        "lastProbeTime": "",
        "lastTransitionTime": "",
        "reason": "Infeasible",
        "message": PINNED,
    }
    assert pod["status"]["phase"] == "Running"
    assert cluster.has()["cpu"] == amount
    (event,) = cluster.events("ResizeInfeasible")
    assert event["type"] == "Warning"
    resources = '{"limits":{"cpu":"4","memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}'
    error = PINNED.replace('"', '\\"')
    assert event["message"] == (
        f'Pod resize Infeasible: {{"containers":[{{"name":"app","resources":{resources}}}],'
        f'"generation":2,"error":"{error}"}}'
    )
    cluster.run(600)
    assert len(cluster.events("ResizeInfeasible")) == 1


def test_what_is_asked_back_is_no_longer_pending() -> None:
    cluster = cluster_with("2", **STATIC)
    cluster.resize(cpu="4")
    cluster.run()
    cluster.resize(cpu="2")
    cluster.run()
    assert cluster.pending() is None
    assert cluster.pod()["status"]["observedGeneration"] == 3


@pytest.mark.parametrize(
    ("kubelet", "amounts"),
    [
        pytest.param({}, {"cpu": "4"}, id="CPUs, without a static CPU manager"),
        pytest.param(STATIC, {"memory": "2Gi"}, id="memory, with one"),
    ],
)
def test_what_there_is_room_for_is_granted(
    kubelet: dict[str, Any], amounts: dict[str, str]
) -> None:
    cluster = cluster_with("2", **kubelet)
    cluster.resize(**amounts)
    cluster.run()
    assert cluster.has() == {"cpu": "2", "memory": "1Gi"} | amounts
    assert cluster.pending() is None
    reasons = [one["reason"] for one in cluster.events() if "Resize" in one["reason"]]
    assert sorted(reasons) == ["ResizeCompleted", "ResizeStarted"]


def test_more_than_the_node_has_is_infeasible() -> None:
    cluster = cluster_with("2")
    cluster.resize(cpu="9")
    cluster.run()
    pending = cluster.pending()
    assert pending is not None
    assert (pending["reason"], pending["message"]) == (
        "Infeasible",
        "Node didn't have enough capacity: cpu, requested: 9000, capacity: 8000",
    )


def test_what_others_have_is_waited_for() -> None:
    cluster = cluster_with("2", "4")
    cluster.resize(cpu="6")
    cluster.run()
    pending = cluster.pending()
    assert pending is not None
    assert (pending["reason"], pending["message"]) == (
        "Deferred",
        "Node didn't have enough resource: cpu, requested: 6000, used: 4000, capacity: 8000",
    )
    assert len(cluster.events("ResizeDeferred")) == 1
    cluster.delete_pod("q", grace=0)
    cluster.run()
    assert cluster.pending() is None
    assert cluster.has()["cpu"] == "6"
