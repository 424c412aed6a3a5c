"""What becomes of nodes that are cordoned or fall silent, and of their pods."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_still import Still
from simulator_support import pod

from evencore.nodefiles.files import nodes_file
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.lives import RUN_SECONDS
from simulator.kubelet.voice import Site
from simulator.nodelife.controller import NodeLife
from simulator.nodelife.plan import stays_for
from simulator.resources import NODES

UNREACHABLE = "node.kubernetes.io/unreachable"
PATIENT = [
    {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
]


class Cluster(Still):
    """One node, and who looks after it."""

    def __init__(self) -> None:
        super().__init__()
        NodeLife(self.store, self.writes, at_once)
        self.fleet = Fleet(Site(self.store, self.writes, at_once))
        self.fleet.run(nodes_file({"nodes": [{"name": "n1"}]}).nodes)

    def node(self) -> dict[str, Any]:
        return self.store.get(NODES, "", "n1").object

    def taints(self) -> list[tuple[str, str]]:
        return [(one["key"], one["effect"]) for one in self.node()["spec"].get("taints", ())]

    def ready(self) -> str:
        return str(self.node()["status"]["conditions"][-1]["status"])


def test_a_node_that_renews_its_lease_is_left_alone() -> None:
    cluster = Cluster()
    cluster.run(3600)
    assert (cluster.ready(), cluster.taints()) == ("True", [])


def test_a_cordoned_node_is_tainted_until_it_is_uncordoned() -> None:
    cluster = Cluster()
    cluster.change_node("n1", spec={"unschedulable": True})
    cluster.run()
    assert cluster.taints() == [("node.kubernetes.io/unschedulable", "NoSchedule")]
    cluster.change_node("n1", spec={"unschedulable": False})
    cluster.run()
    assert cluster.taints() == []


def test_a_silent_node_is_unknown_after_fifty_seconds_and_ready_when_it_is_back() -> None:
    cluster = Cluster()
    cluster.run(5)
    cluster.fleet["n1"].stop()
    cluster.run(44)
    assert cluster.ready() == "True"
    cluster.run(2)
    ready = cluster.node()["status"]["conditions"][-1]
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert ready["message"] == "Kubelet stopped posting node status."
    assert cluster.taints() == [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]
    cluster.fleet["n1"].start()
    cluster.run()
    assert (cluster.ready(), cluster.taints()) == ("True", [])


def test_pods_of_a_lost_node_are_deleted_when_their_patience_ends() -> None:
    cluster = Cluster()
    everything = [{"operator": "Exists"}]
    for name, tolerations in (("p", PATIENT), ("hasty", []), ("loyal", everything)):
        cluster.add_pod(name, nodeName="n1", tolerations=tolerations)
    cluster.run(2)
    cluster.fleet["n1"].stop()
    cluster.run(60)
    gone = {name: "deletionTimestamp" in cluster.pod(name)["metadata"] for name in ("p", "hasty")}
    assert gone == {"p": False, "hasty": True}
    cluster.run(300)
    going = cluster.pod()
    assert "deletionTimestamp" in going["metadata"]
    assert going["status"]["conditions"][-1]["reason"] == "DeletionByTaintManager"
    assert "deletionTimestamp" not in cluster.pod("loyal")["metadata"]
    told = {one["message"] for one in cluster.events("TaintManagerEviction")}
    assert told == {f"Marking for deletion Pod default/{name}" for name in ("p", "hasty")}


def test_pods_of_a_lost_node_are_unready_until_it_is_back() -> None:
    cluster = Cluster()
    cluster.add_pod(nodeName="n1", tolerations=PATIENT)
    cluster.add_pod("late", annotations={RUN_SECONDS: "10"}, nodeName="n1", restartPolicy="Never")

    def ready(name: str = "p") -> str:
        conditions = cluster.pod(name)["status"]["conditions"]
        return next(str(one["status"]) for one in conditions if one["type"] == "Ready")

    cluster.run(20)
    assert (ready(), ready("late")) == ("True", "False")
    cluster.fleet["n1"].stop()
    cluster.run(60)
    assert (ready(), cluster.pod()["status"]["phase"]) == ("False", "Running")
    told = cluster.events("NodeNotReady")
    assert {(one["type"], one["involvedObject"]["name"], one["message"]) for one in told} == {
        ("Normal", "n1", "Node n1 status is now: NodeNotReady"),
        ("Warning", "p", "Node is not ready"),
    }
    assert {one["source"]["component"] for one in told} == {"node-controller"}
    cluster.fleet["n1"].start()
    cluster.run(2)
    assert ready() == "True"
    assert cluster.pod()["status"]["phase"] == "Running"


def test_a_node_that_is_back_in_time_keeps_its_pods() -> None:
    cluster = Cluster()
    cluster.add_pod(nodeName="n1", tolerations=PATIENT)
    cluster.run(2)
    cluster.fleet["n1"].stop()
    cluster.run(200)
    cluster.fleet["n1"].start()
    cluster.run(600)
    assert "deletionTimestamp" not in cluster.pod()["metadata"]


TAINT = {"key": "a", "effect": "NoExecute"}
ONE, TWO = ({"key": "a", "operator": "Exists", "tolerationSeconds": n} for n in (10, 20))
STAYS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], float | None]] = {
    "no taints": ([], [], None),
    "another effect": ([{**TAINT, "effect": "NoSchedule"}], [], None),
    "not tolerated": ([TAINT], [], 0),
    "for ever": ([TAINT], [{"key": "a", "operator": "Exists"}], None),
    "the shortest": ([TAINT], [TWO, ONE], 10),
    "one of two taints is not tolerated": ([TAINT, {**TAINT, "key": "b"}], [ONE], 0),
    "a negative time": ([TAINT], [{**ONE, "tolerationSeconds": -1}], 0),
}


@pytest.mark.parametrize(("taints", "tolerations", "seconds"), STAYS.values(), ids=STAYS)
def test_how_long_a_pod_stays(
    taints: list[dict[str, Any]], tolerations: list[dict[str, Any]], seconds: float | None
) -> None:
    node = {"spec": {"taints": taints}}
    assert stays_for(pod(tolerations=tolerations), node) == seconds
