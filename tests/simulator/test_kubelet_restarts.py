"""Nodes and their kubelets: what they show, their restarts, and what is lost with them."""

from __future__ import annotations

from typing import Any

from simulator_kubelets import SMALL, Cluster
from simulator_still import cpus

from simulator.resources import LEASES, NODES, TOPOLOGIES

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_a_rejected_pod_is_never_tried_again_but_its_containers_are_missed_after_a_restart() -> (
    None
):
    cluster = Cluster()
    cluster.add_pod(**cpus("3"))
    cluster.run(600)
    before = cluster.status()
    cluster.fleet["autokh-1"].restart()
    cluster.run()
    lost = {
        "exitCode": 137,
        "reason": "ContainerStatusUnknown",
        "message": "The container could not be located when the pod was terminated",
        "startedAt": None,
        "finishedAt": None,
    }
    container = {
        "name": "app",
        "state": {"terminated": lost},
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "image": "x:1",
        "imageID": "",
        "started": False,
    }
    after = cluster.pod()
    assert after["status"] == {**before, "containerStatuses": [container]}
    cluster.fleet["autokh-1"].restart()
    cluster.run(600)
    assert cluster.pod() == after


def affinity(key: str, operator: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}


def test_each_start_of_a_kubelet_is_told() -> None:
    cluster = Cluster()
    cluster.run()
    cluster.fleet["autokh-1"].restart()
    cluster.run()
    told = cluster.events("Starting")
    assert [event["involvedObject"] for event in told] == [
        {"kind": "Node", "name": name, "uid": name} for name in ("autokh-1", "autokh-1", "autokh-2")
    ]
    assert {event["message"] for event in told} == {"Starting kubelet."}


def test_a_restart_kills_pods_whose_affinity_no_longer_holds_and_no_others() -> None:
    """As measured: a required `Gt` on a label that has fallen, and a NotIn without its label."""
    cluster = Cluster(labels={"max-container-cpus": "8", "evencore.io/node": "n1"})
    cluster.add_pod("wide", affinity=affinity("max-container-cpus", "Gt", "7"))
    cluster.add_pod("excluded", affinity=affinity("evencore.io/node", "NotIn", "other"))
    cluster.run(2)
    node = cluster.store.get(NODES, "", "n1").object
    labels = {"max-container-cpus": "2", "kubernetes.io/hostname": "n1"}
    changed = {**node, "metadata": {**node["metadata"], "labels": labels}}
    cluster.store.update(NODES, "", "n1", changed)
    cluster.run(60)
    assert cluster.status("wide")["phase"] == "Running"
    cluster.fleet["n1"].restart()
    cluster.run()
    wide = cluster.status("wide")
    assert (wide["phase"], wide["reason"]) == ("Failed", "NodeAffinity")
    assert wide["message"] == (
        "Pod was rejected: Predicate NodeAffinity failed: "
        "node(s) didn't match Pod's node affinity/selector"
    )
    lost = wide["containerStatuses"][0]["state"]["terminated"]
    assert (lost["reason"], lost["exitCode"]) == ("ContainerStatusUnknown", 137)
    assert "conditions" not in wide
    assert cluster.status("excluded")["phase"] == "Running"


def test_a_restart_between_two_stations_loses_nothing() -> None:
    cluster = Cluster()
    cluster.add_pod(**cpus("2"))
    cluster.run(0.2)
    cluster.fleet["autokh-1"].restart()
    cluster.run(0.6)
    assert cluster.status()["phase"] == "Running"


def test_a_kubelet_that_does_not_come_up_again_is_lost_with_its_node() -> None:
    """strict-cpu-reservation on a full node: the state file looks empty, and the kubelet exits."""
    strict = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}
    cluster = Cluster(machine=SMALL["machine"], kubelet={**SMALL["kubelet"], **strict})
    cluster.add_pod(**cpus("2"))
    cluster.run(2)
    assert cluster.status()["phase"] == "Running"
    cluster.fleet["n1"].restart()
    cluster.add_pod("late")
    cluster.run(60)
    assert cluster.status()["phase"] == "Running"
    assert cluster.status("late")["phase"] == "Pending"
    lease = cluster.store.get(LEASES, "kube-node-lease", "n1").object
    assert lease["spec"]["renewTime"] == "2027-01-15T08:00:00.000000Z"


def test_a_node_shows_what_it_has_and_that_it_lives() -> None:
    cluster = Cluster()
    node = cluster.store.get(NODES, "", "autokh-2").object
    status = node["status"]
    assert status["capacity"]["cpu"] == "48"
    assert status["allocatable"]["cpu"] == "46"
    assert [one["status"] for one in status["conditions"]] == ["False", "False", "False", "True"]
    cluster.run(25)
    lease = cluster.store.get(LEASES, "kube-node-lease", "autokh-2").object
    assert lease["spec"] == {
        "holderIdentity": "autokh-2",
        "leaseDurationSeconds": 40,
        "renewTime": "2027-01-15T08:00:20.000000Z",
    }


def test_the_topology_follows_with_a_delay() -> None:
    cluster = Cluster()
    cluster.run(10)
    shown = cluster.store.get(TOPOLOGIES, "", "autokh-1").object
    assert shown["topologyPolicies"] == ["SingleNUMANodeContainerLevel"]
    cpu = {"name": "cpu", "capacity": "24", "allocatable": "22", "available": "22"}
    assert shown["zones"][0] == {
        "name": "node-0",
        "type": "Node",
        "costs": [{"name": "node-0", "value": 10}, {"name": "node-1", "value": 21}],
        "resources": [cpu],
    }
    cluster.add_pod(**cpus("4"))
    cluster.run(9)
    assert cluster.store.get(TOPOLOGIES, "", "autokh-1").object == shown
    cluster.run(2)
    zones = cluster.store.get(TOPOLOGIES, "", "autokh-1").object["zones"]
    assert [zone["resources"][0]["available"] for zone in zones] == ["18", "24"]


def test_a_lost_node_is_silent_and_takes_up_its_pods_when_it_is_back() -> None:
    cluster = Cluster(name="n1")
    cluster.add_pod()
    cluster.run(2)
    cluster.fleet["n1"].stop()
    cluster.run(60)
    cluster.add_pod("late")
    cluster.delete_pod("p")
    cluster.run(60)
    assert cluster.status("late")["phase"] == "Pending"
    assert cluster.is_there("p")
    lease = cluster.store.get(LEASES, "kube-node-lease", "n1").object
    assert lease["spec"]["renewTime"] == "2027-01-15T08:00:00.000000Z"
    cluster.fleet["n1"].start()
    cluster.run(2)
    assert cluster.status("late")["phase"] == "Running"
    assert not cluster.is_there("p")
    lease = cluster.store.get(LEASES, "kube-node-lease", "n1").object
    assert lease["spec"]["renewTime"] > "2027-01-15T08:02:00"
