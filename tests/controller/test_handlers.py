"""What is watched becomes state and keys of work."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from controller_parts import (
    CUSTOM,
    DATABASE,
    NODE,
    NOW,
    NUMA,
    ODD,
    REPLICA_SET,
    admitted,
    ago,
    failed,
    failed_pod,
    held,
    live_pod,
    node,
    pod,
)

from controller.expectations import Expectations
from controller.handlers import Handlers
from controller.queue import Key, Queue
from controller.state import Newcomer, Owner, State
from evencore.domain import names
from evencore.domain.event_views import EventView

Object = dict[str, Any]
LIVE, FAILED, NODES = "pods", "failed pods", "nodes"
OTHER = ("apps/v1", "ReplicaSet", "other-1", "rs-2")


class Desk:
    """Handlers with what they fill, and a queue whose clock a test moves."""

    def __init__(self, *, leading: bool = True) -> None:
        self.now = 0.0
        self.state = State()
        self.queue = Queue(lambda: self.now)
        self.expectations = Expectations()
        self.handlers = Handlers(self.state, self.queue, self.expectations, lambda: NOW)
        if leading:
            self.handlers.lead(lambda _: {}, ())

    def live(self, before: Object | None, after: Object | None) -> set[Key]:
        seen = [live_pod(obj) if obj else None for obj in (before, after)]
        return self.told(LIVE, "shop/web-6d-a", *seen)

    def failed(self, before: Object | None, after: Object | None) -> set[Key]:
        seen = [failed_pod(obj) if obj else None for obj in (before, after)]
        return self.told(FAILED, "shop/web-6d-a", *seen)

    def told(self, name: str, key: str, before: object, after: object) -> set[Key]:
        self.handlers(name, key, before, after)
        return self.due()

    def due(self) -> set[Key]:
        """Return the keys that are queued, whenever they are due."""
        self.now += 3600
        found = set()
        while len(self.queue):
            key = self.queue.get()
            assert key is not None
            self.queue.done(key)
            found.add(key)
        return found


@pytest.fixture
def desk() -> Desk:
    return Desk()


def keys(*pairs: tuple[str, str]) -> set[Key]:
    return {Key(*pair) for pair in pairs}


OWNER = ("owner", "shop/rs-1")
TOLD = (("placed", "shop/web-6d-a"), ("fits", "shop/web-6d-a"))


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        pytest.param(None, pod(), (), id="a pod that nobody changed"),
        pytest.param(None, pod(decision="container a: 3 → 4"), TOLD, id="one that was aligned"),
        pytest.param(None, held(), (OWNER, *TOLD), id="one that is held"),
        pytest.param(
            held(), pod(steering=names.RELEASED), (OWNER, TOLD[1]), id="it is let go: can it fit?"
        ),
        pytest.param(held(), None, (OWNER,), id="it is gone"),
        pytest.param(held(uid="1"), held(uid="2"), (OWNER, *TOLD), id="another has its name"),
        pytest.param(held(), pod(), (OWNER, TOLD[1]), id="somebody took gate and label off"),
        pytest.param(
            held(), held(owner=None), (OWNER, ("owner", "Pod/uid-web-6d-a")), id="orphaned"
        ),
        pytest.param(
            held(), held(owner=OTHER), (OWNER, ("owner", "shop/rs-2")), id="adopted by another"
        ),
        pytest.param(admitted(pod(), "n1"), None, (("room", "n1"),), id="it left its node"),
        pytest.param(pod(node="n1"), None, (), id="one that no kubelet had admitted makes no room"),
        pytest.param(
            admitted(pod(uid="1"), "n1"),
            admitted(pod(uid="2"), "n1"),
            (("room", "n1"),),
            id="another of its name came to the same node",
        ),
    ],
)
def test_live_pods(
    desk: Desk, before: Object | None, after: Object | None, want: tuple[tuple[str, str], ...]
) -> None:
    desk.live(None, before)
    assert desk.live(before, after) == keys(*want)


def test_only_steered_pods_are_kept_and_none_longer_than_it_lives(desk: Desk) -> None:
    states: list[Object | None] = [None, held(uid="1"), held(uid="2"), pod(uid="2"), None]
    seen = []
    for before, after in pairwise(states):
        desk.live(before, after)
        seen.append(sorted(desk.state.steered.of("shop/rs-1")))
    assert seen == [["1"], ["2"], [], []]


def test_a_held_pod_without_owner_is_its_own_and_is_looked_at(desk: Desk) -> None:
    desk.live(None, held(owner=None))
    owner = Owner("v1", "Pod", "shop", "web-6d-a", "uid-web-6d-a")
    assert desk.state.owner("Pod/uid-web-6d-a") == owner


def test_a_write_has_come_back_when_the_gate_is_off_or_the_pod_is_gone(desk: Desk) -> None:
    for after in (pod(steering=names.RELEASED), None):
        desk.live(None, held())
        desk.expectations.expect("uid-web-6d-a")
        desk.live(held(), held(finalizers=["x"]))
        assert desk.expectations.pending("uid-web-6d-a")
        desk.live(held(), after)
        assert not desk.expectations.pending("uid-web-6d-a")


@pytest.mark.parametrize(
    ("obj", "want", "owner"),
    [
        pytest.param(failed(pod()), (OWNER, ("node", "n1")), "shop/rs-1", id="rejected for NUMA"),
        pytest.param(
            failed(pod(), why=ODD), (OWNER, ("node", "n1")), "shop/rs-1", id="for odd CPUs"
        ),
        pytest.param(failed(pod(), why=("Evicted", "")), (), None, id="not rejected: evicted"),
        pytest.param(
            failed(pod(owner=None)), (("bare", "shop/web-6d-a"),), None, id="nobody controls it"
        ),
        pytest.param(
            failed(pod(owner=CUSTOM)),
            (("owner", "shop/k-1"), ("node", "n1")),
            "shop/k-1",
            id="custom owner",
        ),
        pytest.param(failed(pod(owner=NODE)), (), None, id="a static pod"),
    ],
)
def test_failed_pods(
    desk: Desk, obj: Object, want: tuple[tuple[str, str], ...], owner: str | None
) -> None:
    assert desk.failed(None, obj) == keys(*want)
    if owner:
        assert list(desk.state.rejected.of(owner)) == ["uid-web-6d-a"]
        assert desk.failed(obj, None) == keys(("owner", owner))
    assert desk.state.rejected.groups() == []


def test_a_rejected_pod_counts_once_however_often_it_changes(desk: Desk) -> None:
    before, after = failed(pod()), failed(pod(finalizers=["x"]))
    desk.failed(None, before)
    desk.failed(before, after)
    assert len(desk.state.rejected.of("shop/rs-1")) == 1
    desk.failed(after, failed(pod(uid="2")))
    assert list(desk.state.rejected.of("shop/rs-1")) == ["2"]


def test_a_node_is_looked_at_when_its_kubelet_tells_something_new(desk: Desk) -> None:
    def nodes(obj: Object) -> set[Key]:
        return {key for key in desk.failed(None, obj) if key.work == "node"}

    assert nodes(failed(pod(uid="1"), why=NUMA)) == keys(("node", "n1"))
    assert nodes(failed(pod(uid="2"), why=NUMA)) == set()
    assert nodes(failed(pod(uid="3"), why=ODD)) == keys(("node", "n1"))
    assert nodes(failed(pod(uid="4"), why=ODD)) == set()


def released(owner: tuple[str, str, str, str] = REPLICA_SET) -> Object:
    return pod(owner=owner, steering=names.RELEASED)


def test_a_pod_that_was_let_go_and_left_is_out_of_sight_until_it_is_seen_failed(desk: Desk) -> None:
    desk.live(None, released())
    desk.live(released(), None)
    assert desk.state.limbo.of("shop/rs-1") == 1
    desk.failed(None, failed(released()))
    assert desk.state.limbo.of("shop/rs-1") == 0


@pytest.mark.parametrize("last", [held(), admitted(released(), "n1"), pod(steering="excluded")])
def test_others_that_leave_are_not_waited_for(desk: Desk, last: Object) -> None:
    desk.live(None, last)
    desk.live(last, None)
    assert desk.state.limbo.of("shop/rs-1") == 0


def test_one_that_was_seen_failed_before_it_left_is_not_waited_for(desk: Desk) -> None:
    desk.live(None, released())
    desk.failed(None, failed(released()))
    desk.live(released(), None)
    assert desk.state.limbo.of("shop/rs-1") == 0


def test_the_rejected_pod_of_a_stateful_set_is_waited_for_until_its_event_comes(desk: Desk) -> None:
    obj = failed(pod("db-0", owner=DATABASE))
    key = "StatefulSet/shop/db"
    desk.failed(None, obj)
    desk.failed(obj, None)
    assert desk.state.limbo.of(key) == 1
    about = {"kind": "Pod", "namespace": "shop", "name": "db-0", "uid": "uid-db-0"}
    event = msgspec.convert({"involvedObject": about}, EventView)
    assert desk.told("topology rejections", "shop/e", None, event) == keys(("owner", key))
    assert desk.state.limbo.of(key) == 0
    assert desk.state.owner(key) == Owner("apps/v1", "StatefulSet", "shop", "db", "sts-1")


LOOK, ROOM, HOPE = ("node", "n1"), ("room", "n1"), ("hope", "n1")


@pytest.mark.parametrize(
    ("before", "after", "want", "newcomer"),
    [
        pytest.param(None, node(), (LOOK, ROOM), ago(86_400), id="it joined"),
        pytest.param(node(), node(zone="a"), (LOOK, ROOM), NOW, id="a label changed"),
        pytest.param(node(), node(cpu="48"), (LOOK, ROOM), NOW, id="its allocatable changed"),
        pytest.param(
            node(),
            node(**{names.MAX_POD_CPUS: "46"}),
            (LOOK,),
            ago(86_400),
            id="we labelled it: it is as it was",
        ),
        pytest.param(
            node(),
            node(room="2026-03-01T10:40:00Z"),
            (LOOK, HOPE),
            ago(86_400),
            id="we wrote on it that there is room: no reason to write that again",
        ),
        pytest.param(node(), None, (LOOK,), ago(86_400), id="it is gone"),
    ],
)
def test_nodes(
    desk: Desk, before: object, after: object, want: tuple[tuple[str, str], ...], newcomer: object
) -> None:
    if before:
        desk.told(NODES, "n1", None, before)
    assert desk.told(NODES, "n1", before, after) == keys(*want)
    assert desk.state.newcomer == Newcomer("n1", newcomer)  # type: ignore[arg-type]  a datetime


def test_what_a_node_told_is_forgotten_with_it(desk: Desk) -> None:
    desk.failed(None, failed(pod()))
    assert desk.state.learnt
    desk.told(NODES, "n1", node(), None)
    assert not desk.state.learnt


def test_cpus_in_use_are_known_by_node(desk: Desk) -> None:
    desk.live(None, pod())
    assert desk.state.exclusive.groups() == []
    desk.live(pod(), pod(node="n1"))
    assert [e.total for e in desk.state.exclusive.of("n1").values()] == [2]
    desk.live(pod(node="n1"), None)
    assert desk.state.exclusive.groups() == []


def test_a_node_is_looked_at_when_a_pod_that_keeps_off_it_comes_and_goes(desk: Desk) -> None:
    rule = {"key": names.NODE, "operator": "NotIn", "values": ["n1"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    astray = pod(node="n1")
    astray["spec"]["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }
    assert desk.live(None, astray) == keys(("node", "n1"))
    assert not settled(desk)
    admitted = {**astray, "status": {"phase": "Pending", "startTime": "2026-03-01T10:00:00Z"}}
    assert desk.live(astray, admitted) == keys(("node", "n1"))
    assert settled(desk)
    assert desk.live(admitted, None) >= keys(("node", "n1"))


def settled(desk: Desk) -> list[bool]:
    return [True for one in desk.state.exclusive.of("n1").values() if one.settled]


def test_who_does_not_lead_queues_nothing_and_who_is_elected_looks_at_everything() -> None:
    desk = Desk(leading=False)
    bound = admitted(pod(decision="container a: 3 → 4"), "n1")
    assert not desk.live(None, held())
    assert not desk.failed(None, failed(pod(uid="2", owner=CUSTOM)))
    assert not desk.told(NODES, "n1", None, node())
    objects: dict[str, dict[str, object]] = {
        LIVE: {"shop/x": live_pod(bound), "shop/y": live_pod(pod("y"))},
        FAILED: {
            "shop/bare": failed_pod(failed(pod(owner=None))),
            "shop/z": failed_pod(failed(pod())),
        },
        NODES: {"n1": node()},
    }
    desk.handlers.lead(lambda name: objects[name], {"n7"})
    assert desk.due() == keys(
        OWNER,
        ("owner", "shop/k-1"),
        ("placed", "shop/x"),
        ("fits", "shop/x"),
        ("bare", "shop/bare"),
        ("node", "n1"),
        ("room", "n7"),
    )
