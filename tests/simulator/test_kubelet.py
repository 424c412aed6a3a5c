"""Kubelets at work, in a cluster of scheduler and nodes on a virtual clock."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_still import Still, cpus

from evencore.nodefiles.files import nodes_file
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.presets import PRESETS
from simulator.kubelet.voice import Site
from simulator.resources import LEASES, NODES, TOPOLOGIES
from simulator.scheduler.scheduler import Scheduler

START = "2027-01-15T08:00:00Z"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Cluster(Still):
    """Scheduler and kubelets."""

    def __init__(self, **node: Any) -> None:  # noqa: ANN401  any part of a node file
        super().__init__()
        Scheduler(self.store, self.writes, at_once)
        self.fleet = Fleet(Site(self.store, self.writes, at_once))
        files = nodes_file({"nodes": [{"name": "n1", **node}]}) if node else PRESETS["autokh"]
        self.fleet.run(files.nodes)

    def status(self, name: str = "p") -> dict[str, Any]:
        return self.pod(name)["status"]

    def conditions(self, name: str = "p") -> dict[str, str]:
        return {one["type"]: one["status"] for one in self.status(name)["conditions"]}


TEXTS = {
    "27 CPUs, wider than a NUMA node": (
        "27",
        "TopologyAffinityError",
        "Resources cannot be allocated with Topology locality",
    ),
    "3 CPUs, no whole cores": (
        "3",
        "SMTAlignmentError",
        "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
    ),
}


@pytest.mark.parametrize(("amount", "reason", "message"), TEXTS.values(), ids=TEXTS)
def test_a_rejected_pod_to_the_letter(amount: str, reason: str, message: str) -> None:
    cluster = Cluster()
    cluster.add_pod(**cpus(amount))
    cluster.run()
    pod = cluster.pod()
    assert pod["spec"]["nodeName"] == "autokh-1"
    assert pod["status"] == {
        "observedGeneration": 1,
        "phase": "Failed",
        "message": f"Pod was rejected: {message}",
        "reason": reason,
        "startTime": START,
        "qosClass": "Guaranteed",
    }
    [event] = cluster.events(reason)
    name = event["metadata"].pop("name")
    assert name.startswith("p.")
    for own in ("uid", "creationTimestamp", "resourceVersion", "namespace"):
        del event["metadata"][own]
    seen = event["involvedObject"].pop("resourceVersion")
    assert int(seen) < int(pod["metadata"]["resourceVersion"])
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {},
        "involvedObject": {
            "kind": "Pod",
            "namespace": "default",
            "name": "p",
            "uid": pod["metadata"]["uid"],
            "apiVersion": "v1",
        },
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet", "host": "autokh-1"},
        "firstTimestamp": START,
        "lastTimestamp": START,
        "count": 1,
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": "autokh-1",
        "type": "Warning",
    }
    assert [one["reason"] for one in cluster.events() if one["involvedObject"]["name"] == "p"] == [
        "Scheduled",
        reason,
    ]


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


def test_a_pod_that_fits_starts_runs_and_is_ready() -> None:
    cluster = Cluster()
    phases = cluster.first_state("p")
    cluster.add_pod(**cpus("22"))
    cluster.run(0.1)
    waiting = cluster.status()
    assert waiting["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert cluster.conditions() == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }
    ready = next(one for one in waiting["conditions"] if one["type"] == "Ready")
    assert ready["message"] == "containers with unready status: [app]"
    cluster.run(1)
    status = cluster.status()
    assert set(cluster.conditions().values()) == {"True"}
    assert status["containerStatuses"][0]["ready"] is True
    assert status["podIPs"] == [{"ip": status["podIP"]}]
    assert (status["startTime"], status["qosClass"]) == (START, "Guaranteed")
    assert phases["Running"] - phases["Pending"] == pytest.approx(0.512)


def test_init_containers_are_waited_for_and_done() -> None:
    cluster = Cluster(name="n1")
    inits = [
        {"name": "init", "image": "x"},
        {"name": "side", "image": "x", "restartPolicy": "Always"},
    ]
    cluster.add_pod(initContainers=inits)
    cluster.run(0.1)
    told = {one["type"]: one.get("message") for one in cluster.status()["conditions"]}
    assert told["Initialized"] == "containers with incomplete status: [init side]"
    assert told["Ready"] == "containers with unready status: [side app]"
    cluster.run(1)
    init, side = cluster.status()["initContainerStatuses"]
    assert init["state"]["terminated"]["reason"] == "Completed"
    assert (init["ready"], side["ready"], "running" in side["state"]) == (True, True, True)


RUNS = {
    "it succeeds": ("Never", {"run-seconds": "30"}, "Succeeded", 0),
    "it fails": ("Never", {"run-seconds": "30", "exit-code": "3"}, "Failed", 3),
    "on failure is not reached": ("OnFailure", {"run-seconds": "30"}, "Succeeded", 0),
    "no annotation": ("Never", {}, "Running", None),
    "nonsense": ("Never", {"run-seconds": "soon"}, "Running", None),
}


@pytest.mark.parametrize(("policy", "notes", "phase", "code"), RUNS.values(), ids=RUNS)
def test_pods_that_run_for_a_time(
    policy: str, notes: dict[str, str], phase: str, code: int | None
) -> None:
    cluster = Cluster()
    annotations = {f"pocket.evencore.io/{name}": value for name, value in notes.items()}
    cluster.add_pod(annotations=annotations, **cpus("24", restartPolicy=policy))
    cluster.run(20)
    assert cluster.status()["phase"] == "Running"
    cluster.run(20)
    status = cluster.status()
    assert status["phase"] == phase
    ended = status["containerStatuses"][0]["state"].get("terminated", {})
    assert ended.get("exitCode") == code
    cluster.add_pod("next", **cpus("24", nodeName=cluster.node_of()))
    cluster.run()
    assert cluster.status("next")["phase"] == ("Failed" if phase == "Running" else "Pending")


def test_a_deleted_pod_is_given_its_grace_and_its_cpus_come_back() -> None:
    cluster = Cluster(delays={"stop": 5}, **SMALL)
    cluster.add_pod(**cpus("2"))
    cluster.run(2)
    cluster.delete_pod("p")
    cluster.run(4)
    assert cluster.is_there("p")
    cluster.add_pod("hasty", **cpus("2"))
    cluster.run(2)
    assert not cluster.is_there("p")
    assert [one["message"] for one in cluster.events("Killing")] == ["Stopping container app"]
    assert cluster.status("hasty")["phase"] == "Running"
    cluster.delete_pod("hasty", grace=1)
    cluster.run(1.1)
    assert not cluster.is_there("hasty")
    cluster.add_pod("last", **cpus("2"))
    cluster.run(0.1)
    cluster.delete_pod("last", grace=0)
    assert not cluster.is_there("last")
    cluster.run(10)


SMALL: dict[str, Any] = {
    "machine": {"coresPerSocket": 2},
    "kubelet": {
        "cpuManagerPolicy": "static",
        "topologyManagerPolicy": "single-numa-node",
        "reservedSystemCPUs": "0,2",
    },
}

NODE_NAME = {
    "too many CPUs": (
        cpus("100", nodeName="n1"),
        "OutOfcpu",
        "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 7000",
    ),
    "a selector": (
        {"nodeName": "n1", "nodeSelector": {"a": "b"}},
        "NodeAffinity",
        "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ),
}


@pytest.mark.parametrize(("spec", "reason", "message"), NODE_NAME.values(), ids=NODE_NAME)
def test_a_pod_that_was_not_scheduled_is_looked_at_again(
    spec: dict[str, Any], reason: str, message: str
) -> None:
    machine = {"coresPerSocket": 7, "threadsPerCore": 1}
    cluster = Cluster(machine=machine)
    cluster.add_pod(**spec)
    cluster.run()
    assert cluster.status()["reason"] == reason
    assert cluster.status()["message"] == f"Pod was rejected: {message}"


def test_more_pods_than_the_node_takes() -> None:
    cluster = Cluster(kubelet={"maxPods": 1})
    cluster.add_pod("first")
    cluster.run()
    cluster.add_pod(nodeName="n1")
    cluster.run()
    text = "Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"
    assert cluster.status()["message"] == f"Pod was rejected: {text}"


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
