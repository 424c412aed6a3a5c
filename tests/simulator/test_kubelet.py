"""What kubelets do with pods, in a cluster of scheduler and nodes on a virtual clock."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_kubelets import SMALL, START, Cluster
from simulator_still import cpus

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


def test_a_pod_that_ends_just_when_it_is_deleted_does_not_stay() -> None:
    """As one does that its kubelet rejects in the same moment."""
    cluster = Cluster(delays={"stop": 5}, **SMALL)
    cluster.add_pod(**cpus("2"))
    cluster.run(2)
    cluster.delete_pod("p", grace=30)
    cluster.end_pod("p")
    cluster.run(10)
    assert not cluster.is_there("p")


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
