"""What a kubelet tells of containers, and containers that end and are started again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from simulator_still import Still, cpus

from evencore.nodefiles.files import nodes_file
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.restarts import Back
from simulator.kubelet.voice import Site

RUN, EXIT = "pocket.evencore.io/run-seconds", "pocket.evencore.io/exit-code"
IMAGE = 'Container image "x:1" already present on machine and can be accessed by the pod'
APP = "spec.containers{app}"


class Node(Still):
    """One node; starting takes no time, so that every moment is the annotations' own."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet(Site(self.store, self.writes, at_once))
        delays = {"admit": 0, "start": 0}
        self.fleet.run(nodes_file({"nodes": [{"name": "n1", "delays": delays}]}).nodes)

    def start(self, seconds: int | None = None, code: int = 0, **spec: Any) -> None:  # noqa: ANN401  a pod's
        notes = {} if seconds is None else {RUN: str(seconds), EXIT: str(code)}
        self.add_pod(annotations=notes, **cpus("1", nodeName="n1", **spec))
        self.run(0)

    def container(self) -> dict[str, Any]:
        found: dict[str, Any] = self.pod()["status"]["containerStatuses"][0]
        return found

    def told(self) -> list[tuple[str, str, str, str]]:
        return [
            (one["type"], one["reason"], one["message"], one["involvedObject"]["fieldPath"])
            for one in sorted(self.events(), key=lambda one: one["metadata"]["name"])
            if one["involvedObject"]["kind"] == "Pod"
        ]


def test_a_start_is_told_per_container_in_the_words_of_1_36() -> None:
    node = Node()
    init = {"name": "init", "image": "y", "imagePullPolicy": "Always"}
    node.start(initContainers=[init])
    place = "spec.initContainers{init}"
    pulled = 'Successfully pulled image "y" in 0s (0s including waiting). Image size: 0 bytes.'
    assert node.told() == [
        ("Normal", "Pulling", 'Pulling image "y"', place),
        ("Normal", "Pulled", pulled, place),
        ("Normal", "Created", "Container created", place),
        ("Normal", "Started", "Container started", place),
        ("Normal", "Pulled", IMAGE, APP),
        ("Normal", "Created", "Container created", APP),
        ("Normal", "Started", "Container started", APP),
    ]


def test_a_delete_is_told_of_what_still_runs() -> None:
    node = Node()
    side = {"name": "side", "image": "x:1", "restartPolicy": "Always"}
    node.start(initContainers=[{"name": "init", "image": "x:1"}, side])
    node.delete_pod("p")
    node.run(1)
    assert [one[1:] for one in node.told() if one[1] == "Killing"] == [
        ("Killing", "Stopping container side", "spec.initContainers{side}"),
        ("Killing", "Stopping container app", APP),
    ]


POLICIES = {
    "Always, it succeeds": ("Always", 0, "Running", 1),
    "Always, it fails": ("Always", 1, "Running", 1),
    "OnFailure, it succeeds": ("OnFailure", 0, "Succeeded", 0),
    "OnFailure, it fails": ("OnFailure", 1, "Running", 1),
    "Never, it fails": ("Never", 1, "Failed", 0),
}


@pytest.mark.parametrize(("policy", "code", "phase", "count"), POLICIES.values(), ids=POLICIES)
def test_which_containers_are_started_again(policy: str, code: int, phase: str, count: int) -> None:
    node = Node()
    node.start(5, code, restartPolicy=policy)
    node.run(6)
    assert (node.pod()["status"]["phase"], node.container()["restartCount"]) == (phase, count)


def test_each_start_waits_twice_as_long_up_to_five_minutes() -> None:
    node = Node()
    node.start(1, 1)
    starts = []
    for _ in range(1200):
        node.run(1)
        started = node.container()["restartCount"]
        if started > len(starts):
            starts.append(node.store.clock.now())
    gaps = [int(later - earlier) - 1 for earlier, later in pairwise(starts)]
    assert gaps == [10, 20, 40, 80, 160, 300, 300]


def test_ten_minutes_of_running_are_a_new_beginning() -> None:
    assert Back(5, 80).next(599) == Back(6, 160)
    assert Back(5, 80).next(600) == Back(1, 0)
    assert Back(5000, 300).next(1) == Back(5001, 300)


def test_what_a_container_says_while_it_waits_and_when_it_runs_again() -> None:
    node = Node()
    node.start(2, 3)
    node.run(5)
    waiting = node.container()
    uid = node.pod()["metadata"]["uid"]
    text = f"back-off 10s restarting failed container=app pod=p_default({uid})"
    assert waiting["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
    ended = {
        "exitCode": 3,
        "reason": "Error",
        "startedAt": "2027-01-15T08:00:02Z",
        "finishedAt": "2027-01-15T08:00:04Z",
        "containerID": f"pocket://{uid}/app/1",
    }
    assert waiting["lastState"] == {"terminated": ended}
    assert (waiting["ready"], waiting["started"], waiting["restartCount"]) == (False, False, 1)
    ready = {one["type"]: one for one in node.pod()["status"]["conditions"]}["Ready"]
    assert (ready["status"], ready["message"]) == (
        "False",
        "containers with unready status: [app]",
    )
    node.run(10)
    again = node.container()
    assert again["state"] == {"running": {"startedAt": "2027-01-15T08:00:14Z"}}
    assert (again["lastState"], again["restartCount"]) == ({"terminated": ended}, 2)
    ready = {one["type"]: one for one in node.pod()["status"]["conditions"]}["Ready"]
    assert (ready["status"], "message" in ready) == ("True", False)


def test_what_is_told_again_of_a_container_counts_up() -> None:
    node = Node()
    node.start(1, 1)
    node.run(20)
    uid = node.pod()["metadata"]["uid"]
    counts = {one["reason"]: one["count"] for one in node.events() if one["reason"] != "Starting"}
    assert counts == {"Pulled": 3, "Created": 3, "Started": 3, "BackOff": 2}
    [back_off] = node.events("BackOff")
    assert back_off["message"] == (
        f"Back-off restarting failed container app in pod p_default({uid})"
    )
    assert back_off["type"] == "Warning"
    assert back_off["firstTimestamp"] < back_off["lastTimestamp"]


def test_a_pod_is_deleted_while_it_waits() -> None:
    node = Node()
    node.start(1, 1)
    node.run(3)
    assert "waiting" in node.container()["state"]
    node.delete_pod("p")
    node.run(1)
    assert not node.is_there("p")
    node.run(600)
    assert not node.is_there("p")


def test_a_kubelet_that_is_restarted_goes_on_with_containers_that_wait() -> None:
    node = Node()
    node.start(2, 1)
    node.run(5)
    node.fleet["n1"].restart()
    node.run(10)
    assert node.container()["restartCount"] == 2
