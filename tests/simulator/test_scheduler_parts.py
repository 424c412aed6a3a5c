"""The decisions of the scheduler, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_still import cpus, node
from simulator_support import pod

from simulator.chance import Chance
from simulator.resources import PODS
from simulator.rules.defaults import defaulted
from simulator.scheduler.choice import choose, enough
from simulator.scheduler.filters import refusal
from simulator.scheduler.queue import Entry, Queue
from simulator.scheduler.rooms import Room
from simulator.scheduler.wishes import Wishes, wishes_of

DICE = Chance(1).stream("test")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def wishes(name: str = "p", /, **spec: Any) -> Wishes:  # noqa: ANN401  any JSON value
    made = defaulted(PODS, pod(name, **spec))
    made["metadata"]["uid"] = name
    return wishes_of(made)


def room(name: str = "n1", /, labels: dict[str, str] | None = None, **more: Any) -> Room:  # noqa: ANN401  as node()
    obj = node(name, **more)
    obj["metadata"]["labels"] |= labels or {}
    return Room(obj)


def reasons(pod_: Wishes, room_: Room) -> list[str]:
    found = refusal(pod_, room_)
    return list(found.reasons) if found else []


def term(key: str, operator: str, *values: str, part: str = "matchExpressions") -> dict[str, Any]:
    one = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    return {part: [one]}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


# On a node n1 with labels width=2 and zone=a: what is allowed.
OPERATORS = {
    "In": (term("zone", "In", "a", "b"), True),
    "In, another value": (term("zone", "In", "b"), False),
    "In, no label": (term("nope", "In", "a"), False),
    "NotIn": (term("zone", "NotIn", "b"), True),
    "NotIn, that value": (term("zone", "NotIn", "a"), False),
    "NotIn, no label": (term("nope", "NotIn", "a"), True),
    "Exists": (term("zone", "Exists"), True),
    "Exists, no label": (term("nope", "Exists"), False),
    "DoesNotExist": (term("zone", "DoesNotExist"), False),
    "DoesNotExist, no label": (term("nope", "DoesNotExist"), True),
    "Gt": (term("width", "Gt", "1"), True),
    "Gt, equal": (term("width", "Gt", "2"), False),
    "Gt, no number": (term("zone", "Gt", "1"), False),
    "Lt": (term("width", "Lt", "3"), True),
    "Lt, equal": (term("width", "Lt", "2"), False),
    "Lt, no label": (term("nope", "Lt", "3"), False),
    "field In": (term("metadata.name", "In", "n1", part="matchFields"), True),
    "field NotIn": (term("metadata.name", "NotIn", "n1", part="matchFields"), False),
    "an empty term": ({}, False),
}


@pytest.mark.parametrize(("one", "allowed"), OPERATORS.values(), ids=OPERATORS)
def test_required_affinity(one: dict[str, Any], allowed: bool) -> None:  # noqa: FBT001  a table
    here = room(labels={"width": "2", "zone": "a"})
    found = reasons(wishes(affinity=affinity(one)), here)
    assert found == ([] if allowed else ["node(s) didn't match Pod's node affinity/selector"])


def test_terms_are_alternatives_and_the_selector_comes_on_top() -> None:
    here = room(labels={"zone": "a"})
    either = affinity(term("zone", "In", "b"), term("zone", "In", "a"))
    assert reasons(wishes(affinity=either), here) == []
    assert reasons(wishes(affinity=either, nodeSelector={"zone": "b"}), here)


TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    assert reasons(wishes(), room(taints=[{**TAINT, "effect": "PreferNoSchedule"}])) == []


def test_all_that_is_missing_is_told_at_once() -> None:
    here = room(cpu="1", pods="0")
    assert reasons(wishes(**cpus("2")), here) == ["Too many pods", "Insufficient cpu"]


def test_what_init_containers_sidecars_and_overhead_need_counts() -> None:
    def one(name: str, cpu: str, **more: str) -> dict[str, Any]:
        return {"name": name, "image": "x", "resources": {"requests": {"cpu": cpu}}, **more}

    first = [one("side", "1", restartPolicy="Always"), one("init", "3")]
    asked = wishes(initContainers=first, containers=[one("app", "2")], overhead={"cpu": "250m"})
    assert asked.requests["cpu"] == 4250


def test_preferred_affinity_outweighs_room() -> None:
    likes = {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term("zone", "In", "b")}]}}
    full, free = room("n1", labels={"zone": "b"}), room("n2")
    full.add(wishes("x", **cpus("6")))
    found = choose(wishes(**cpus("1", affinity=likes)), [free, full], 0, DICE)
    assert found.room is full


def test_a_taint_that_only_prefers_outweighs_room_and_preferred_affinity() -> None:
    soft = {**TAINT, "effect": "PreferNoSchedule"}
    likes = {"nodeAffinity": {PREFERRED: [{"weight": 9, "preference": term("zone", "In", "b")}]}}
    tainted, full = room("n1", labels={"zone": "b"}, taints=[soft]), room("n2")
    full.add(wishes("x", **cpus("6")))
    asked = cpus("1", affinity=likes)
    assert choose(wishes(**asked), [tainted, full], 0, DICE).room is full
    tolerant = wishes(**asked, tolerations=[{"key": "a", "operator": "Exists"}])
    assert choose(tolerant, [tainted, full], 0, DICE).room is tainted


def test_what_is_known_of_a_node_is_forgotten_when_node_or_pods_change() -> None:
    here = room(cpu="2")
    assert choose(wishes(**cpus("2")), [here], 0, DICE).room is here
    here.add(wishes("x", **cpus("1")))
    assert choose(wishes("p2", **cpus("2")), [here], 0, DICE).room is None
    here.read(node(cpu="3"))
    assert choose(wishes("p3", **cpus("2")), [here], 0, DICE).room is here


def test_pods_that_a_node_can_tell_apart_are_of_different_kinds() -> None:
    kinds = [
        {},
        cpus("2"),
        cpus("3"),
        {"nodeSelector": {"a": "b"}},
        {"tolerations": [{"operator": "Exists"}]},
        {"affinity": affinity(term("zone", "In", "a"))},
    ]
    assert len({wishes(**one).kind for one in kinds}) == len(kinds)
    assert wishes("p", **cpus("2")).kind == wishes("q", **cpus("2")).kind


def test_room_decides_without_preferences() -> None:
    full, free = room("n1"), room("n2")
    full.add(wishes("x", **cpus("6")))
    assert choose(wishes(**cpus("1")), [full, free], 0, DICE).room is free


def test_large_clusters_are_searched_in_part() -> None:
    assert [enough(nodes) for nodes in (2, 100, 101, 500, 5000, 20000)] == [
        2,
        100,
        100,
        230,
        500,
        1000,
    ]
    rooms = [room(f"n{number}") for number in range(300)]
    found = choose(wishes(), rooms, 250, DICE)
    assert found.looked_at == enough(300) < 300


def test_back_off_doubles_up_to_ten_seconds() -> None:
    entry = Entry(wishes(), added=0, failed=100)
    ends = []
    for attempts in range(1, 7):
        entry.attempts = attempts
        ends.append(entry.backoff_ends() - 100)
    assert ends == [1, 2, 4, 8, 10, 10]


def test_a_woken_pod_waits_for_its_back_off_only_while_others_are_active() -> None:
    queue = Queue()
    woken = Entry(wishes("woken"), added=0, attempts=1, failed=10)
    queue.put(woken, 10.0)
    queue.put(Entry(wishes("new"), added=10), 10.0)
    assert [queue.pop(10.0).pod.uid for _ in range(2)] == ["new", "woken"]  # type: ignore[union-attr]  # a None fails, too


def test_a_pod_that_met_an_error_always_waits_for_its_back_off() -> None:
    queue = Queue()
    queue.put(Entry(wishes(), added=0, attempts=1, failed=10, met_error=True), 10.0)
    assert (queue.pop(10.5), queue.next_due()) == (None, 11.0)
    assert queue.pop(11.0) is not None


def test_a_pod_that_left_the_queue_is_not_popped() -> None:
    queue = Queue()
    queue.put(Entry(wishes(), added=0), 0.0)
    queue.remove("p")
    assert queue.pop(1.0) is None
