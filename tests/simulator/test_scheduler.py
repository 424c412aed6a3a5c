"""The scheduler at work: what it writes, what it waits for, and to which node it sticks."""

from __future__ import annotations

from collections import Counter

from simulator_still import Still, cpus, node

from simulator.errands import at_once
from simulator.scheduler.scheduler import Scheduler


def cluster(*nodes: dict[str, object]) -> Still:
    still = Still()
    Scheduler(still.store, still.writes, at_once)
    for one in nodes:
        still.add_node(one)
    return still


def busy(message: str, nodes: int = 1) -> str:
    return (
        f"0/{nodes} nodes are available: {message}. no new claims to deallocate, preemption: "
        f"0/{nodes} nodes are available: "
    )


def test_a_pod_is_bound_and_told_of_in_the_shape_of_the_new_events() -> None:
    still = cluster(node())
    made = still.add_pod(**cpus("2"))
    still.run()
    pod = still.pod()
    assert pod["spec"]["nodeName"] == "n1"
    [condition] = pod["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    [event] = still.events()
    assert event["metadata"]["name"].startswith("p.")
    del event["metadata"]
    moment = event.pop("eventTime")
    assert moment.startswith("2027-01-15T08:00:00.0")
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "kind": "Pod",
            "namespace": "default",
            "name": "p",
            "uid": made["metadata"]["uid"],
            "apiVersion": "v1",
            "resourceVersion": made["metadata"]["resourceVersion"],
        },
        "reason": "Scheduled",
        "message": "Successfully assigned default/p to n1",
        "type": "Normal",
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "action": "Binding",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-pocket",
    }


def test_a_pod_that_fits_nowhere_is_told_of_in_event_and_condition() -> None:
    still = cluster(node(cpu="1"), node("n2", cpu="1"))
    still.add_pod("first", **cpus("1"))
    still.run()
    still.add_pod(**cpus("1", nodeSelector={"kubernetes.io/hostname": still.node_of("first")}))
    still.run()
    text = busy("1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector", 2)
    text += "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for "
    text += "scheduling."
    [event] = still.events("FailedScheduling")
    assert (event["type"], event["action"]) == ("Warning", "Scheduling")
    assert event["message"] == text
    [condition] = still.pod()["status"]["conditions"]
    assert condition == {
        "type": "PodScheduled",
        "observedGeneration": 1,
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": "2027-01-15T08:00:00Z",
        "reason": "Unschedulable",
        "message": text,
    }


def test_without_nodes_it_says_so_and_a_new_node_wakes_the_pod() -> None:
    still = cluster()
    still.add_pod()
    still.run()
    assert still.events()[0]["message"] == "no nodes available to schedule pods"
    still.add_node(node())
    still.run()
    assert still.node_of() == "n1"


def test_a_pod_that_ends_makes_room_and_no_attempt_is_made_before() -> None:
    still = cluster(node(cpu="2"))
    still.add_pod("first", **cpus("2"))
    still.run()
    still.add_pod(**cpus("2"))
    still.run(60)
    assert len(still.events("FailedScheduling")) == 1
    still.end_pod("first")
    still.run()
    assert still.node_of() == "n1"


def test_a_node_wakes_only_pods_that_it_can_help() -> None:
    still = cluster(node(cpu="2"))
    still.add_pod("big", **cpus("4"))
    still.add_pod("picky", **cpus("1", nodeSelector={"disk": "fast"}))
    still.run()
    still.change_node("n1", metadata={"labels": {"disk": "slow"}})
    still.run()
    assert len(still.events("FailedScheduling")) == 2
    still.change_node("n1", metadata={"labels": {"disk": "fast"}})
    still.run()
    assert (still.node_of("picky"), still.node_of("big")) == ("n1", "")
    still.change_node("n1", status={"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "9"}})
    still.run()
    assert still.node_of("big") == "n1"


def test_what_is_told_again_becomes_a_series_per_version_of_the_pod() -> None:
    """As `kubectl describe` shows it: one Event from before the condition, and then "x4 over"."""
    still = cluster(node(cpu="1"))
    still.add_pod(**cpus("2"))
    still.run()
    for number in range(4):
        still.add_pod(f"other{number}", nodeName="n1")
        still.end_pod(f"other{number}")
        still.run()
    first, again = still.events("FailedScheduling")
    assert "series" not in first
    assert again["series"] == {"count": 2, "lastObservedTime": "2027-01-15T08:00:00.202000Z"}
    still.delete_pod("p")
    still.run(359)
    assert still.events("FailedScheduling")[1]["series"]["count"] == 2
    still.run(2)
    assert still.events("FailedScheduling")[1]["series"]["count"] == 4


def test_a_long_series_is_refreshed_every_half_an_hour() -> None:
    still = cluster(node(cpu="1"))
    still.add_pod(**cpus("2"))
    still.run(1800)
    assert still.events("FailedScheduling")[1]["series"]["count"] == 2
    still.run(1200)
    assert still.events("FailedScheduling")[1]["series"]["count"] == 8


def test_after_five_minutes_a_pod_is_tried_again_whatever_happened() -> None:
    still = cluster(node(cpu="1"))
    still.add_pod(**cpus("2"))
    still.run(299)
    assert len(still.events("FailedScheduling")) == 1
    still.run(2)
    assert len(still.events("FailedScheduling")) == 2


def test_a_gated_pod_waits_for_its_last_gate() -> None:
    still = cluster(node())
    gates = [{"name": "a/b"}, {"name": "c/d"}]
    still.add_pod(**cpus("1", schedulingGates=gates))
    still.run(600)
    assert still.pod()["status"]["conditions"][0]["reason"] == "SchedulingGated"
    still.change_pod("p", schedulingGates=gates[1:])
    still.run()
    assert (still.node_of(), still.events()) == ("", [])
    still.change_pod("p", schedulingGates=[])
    still.run()
    assert still.node_of() == "n1"


def test_a_cordoned_node_is_left_alone_until_it_is_uncordoned() -> None:
    still = cluster(node(unschedulable=True))
    still.add_pod()
    still.run()
    told = busy("1 node(s) were unschedulable")
    assert still.events()[0]["message"] == f"{told}1 Preemption is not helpful for scheduling."
    still.change_node("n1", spec={"unschedulable": False})
    still.run()
    assert still.node_of() == "n1"


def test_a_toleration_that_comes_later_lets_the_pod_in() -> None:
    still = cluster(node(taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}]))
    still.add_pod()
    still.run()
    assert "1 node(s) had untolerated taint(s)." in still.events()[0]["message"]
    still.change_pod("p", tolerations=[{"key": "a", "operator": "Exists"}])
    still.run()
    assert still.node_of() == "n1"


def test_another_schedulers_pods_and_placed_ones_are_not_its_business_but_count() -> None:
    still = cluster(node(cpu="2"))
    still.add_pod("other", schedulerName="mine")
    still.add_pod("placed", **cpus("2", nodeName="n1"))
    still.add_pod(**cpus("1"))
    still.run()
    assert (still.node_of("other"), still.node_of()) == ("", "")
    assert [one["involvedObject"]["name"] for one in still.events()] == ["p"]


def test_pods_spread_over_nodes_as_long_as_they_live() -> None:
    still = cluster(*(node(f"n{number}") for number in range(4)))
    for number in range(4):
        still.add_pod(f"p{number}", **cpus("2"))
    still.run()
    assert {still.node_of(f"p{number}") for number in range(4)} == {"n0", "n1", "n2", "n3"}


def test_priority_goes_first() -> None:
    still = cluster(node(cpu="1"))
    still.add_pod("low", **cpus("1", priority=1))
    still.add_pod("high", **cpus("1", priority=2))
    still.run()
    assert (still.node_of("high"), still.node_of("low")) == ("n1", "")


def test_the_loop_sticks_to_a_node_as_measured() -> None:
    """Of 497 pods on 100 equal nodes, 421 went to one and all to 4."""
    still = cluster(*(node(f"n{number:03}") for number in range(100)))
    seen = Counter[str]()
    for number in range(497):
        still.add_pod(f"p{number}", **cpus("4"))
        still.run(0.01)
        seen[still.node_of(f"p{number}")] += 1
        still.end_pod(f"p{number}")
    assert 421 * 0.9 < max(seen.values()) < 421 * 1.1
    assert len(seen) == 4
