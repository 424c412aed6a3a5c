"""The parts together: the loop of rejections, as fast as it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from simulator_still import cpus
from simulator_support import PODS as PODS_PATH
from simulator_support import Wire, pod

from simulator.api.bodies import MERGE_PATCH
from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.resources import PODS
from simulator.server import Options

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = "/apis/apps/v1/namespaces/default/replicasets"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    options = Options(clock=Clock.virtual(), secure=False)
    with Cluster(PRESETS["autokh"], options) as running:
        running.advance(1)
        yield running


@pytest.fixture
def api(cluster: Cluster) -> Iterator[Wire]:
    with Wire(cluster.server) as wire:
        yield wire


def replica_set(replicas: int, cpu: str) -> dict[str, Any]:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": cpus(cpu)}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": spec,
    }


def pods_of(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.server.call(
        lambda: [record.object for record in cluster.server.store.table(PODS).records("default")]
    )


def test_a_pod_through_the_api_gets_a_node_and_runs(cluster: Cluster, api: Wire) -> None:
    api.post(PODS_PATH, pod(**cpus("2")))
    cluster.advance(2)
    assert api.get(f"{PODS_PATH}/p")["status"]["phase"] == "Running"


def test_a_restarted_kubelet_kills_what_fills_its_node(cluster: Cluster, api: Wire) -> None:
    for name, amount in (("a", "22"), ("b", "24")):
        api.post(PODS_PATH, pod(name, **cpus(amount, nodeName="autokh-2")))
        cluster.advance(2)
    assert {one["status"]["phase"] for one in pods_of(cluster)} == {"Running"}
    cluster.server.call(lambda: cluster.kubelet("autokh-2").restart())
    cluster.advance(1)
    assert {one["status"]["reason"] for one in pods_of(cluster)} == {"SMTAlignmentError"}


def test_a_drained_node_is_empty_and_its_pods_come_back_elsewhere(
    cluster: Cluster, api: Wire
) -> None:
    """What `kubectl drain` does: cordon, then an eviction for each pod."""
    api.post(SETS, replica_set(2, "2"))
    cluster.advance(2)
    assert {one["spec"]["nodeName"] for one in pods_of(cluster)} == {"autokh-1", "autokh-2"}
    api.patch("/api/v1/nodes/autokh-1", {"spec": {"unschedulable": True}}, MERGE_PATCH)
    for one in pods_of(cluster):
        if one["spec"]["nodeName"] == "autokh-1":
            name = one["metadata"]["name"]
            api.post(f"{PODS_PATH}/{name}/eviction", eviction(name))
    cluster.advance(5)
    found = [(one["spec"]["nodeName"], one["status"]["phase"]) for one in pods_of(cluster)]
    assert found == [("autokh-2", "Running")] * 2


def eviction(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}


def test_what_ran_on_a_lost_node_runs_elsewhere_after_its_patience(
    cluster: Cluster, api: Wire
) -> None:
    api.post(SETS, replica_set(2, "2"))
    cluster.advance(2)
    cluster.server.call(lambda: cluster.kubelet("autokh-1").stop())
    cluster.advance(50 + 300 + 10)
    alive = [one for one in pods_of(cluster) if "deletionTimestamp" not in one["metadata"]]
    assert [one["spec"]["nodeName"] for one in alive] == ["autokh-2"] * 2
