"""Let go, replaced, told that there is room: each on a real API, as it is now."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from controller_parts import (
    JOB,
    NOW,
    REPLICA_SET,
    TAKES_PART,
    Kube,
    ago,
    failed,
    held,
    kept_off,
    pod,
    snapshot,
)

from controller.expectations import Expectations
from controller.queue import Key, Queue
from controller.reading import REFUSED_S
from controller.releaser import Releaser
from controller.replacer import Replacer
from controller.rooms import PAUSE_S, RoomReconciler
from controller.state import Newcomer, Owner, State
from controller.views import FullNode, LivePod, WatchedPod, live
from controller.workload import Workloads
from evencore.domain import names
from evencore.domain.decision import Decision
from evencore.domain.policy import Policy
from evencore.domain.release import Release
from evencore.kube.outcome import RETRY_S, Refused
from evencore.kube.writer import Writer
from simulator.faults import Fault

if TYPE_CHECKING:
    from datetime import datetime

Object = dict[str, Any]
PODS = "/api/v1/namespaces/shop/pods"
PATH = f"{PODS}/web-6d-a"
GO = Release(("uid",), "10s after the last rejection", None)
SET = Owner(REPLICA_SET[0], REPLICA_SET[1], "shop", *REPLICA_SET[2:])
VAIN = "let go 10:00Z: why; not on n1 until 10:30Z: TopologyAffinityError, 2 rejections"


def seen(obj: Object) -> LivePod:
    return live(msgspec.convert(obj, WatchedPod))


class Let:
    """A Releaser, and one pod that was rejected on n1 a minute ago."""

    def __init__(self, kube: Kube) -> None:
        self.kube, self.expectations = kube, Expectations()
        rejection = failed(pod("old", owner=kube.owner), at=ago(60))
        self.releaser = Releaser(
            kube.writer, Policy(), lambda: snapshot(rejection), self.expectations, lambda: NOW
        )

    def go(self, obj: Object) -> Decision | float | None:
        return self.releaser.let_go(seen(obj), GO)


@pytest.fixture
def let(kube: Kube) -> Let:
    return Let(kube)


def test_one_patch_takes_the_gate_off_and_keeps_the_pod_off_what_rejected_it(
    kube: Kube, let: Let
) -> None:
    made = kube.make(held())
    assert isinstance(let.go(made), Decision)
    after = kube.read(PATH)
    assert not after["spec"].get("schedulingGates")
    assert after["metadata"]["labels"][names.STEERING] == names.RELEASED
    assert "n1" in str(after["spec"]["affinity"])
    assert "not on n1 until 10:41Z" in after["metadata"]["annotations"][names.DECISION]
    assert let.expectations.pending(made["metadata"]["uid"])


def test_what_others_did_to_the_pod_since_it_was_seen_is_heeded(kube: Kube, let: Let) -> None:
    made = kube.make(held(labels={"x": "1"}))
    kube.client.write(
        "PATCH", PATH, {"metadata": {"labels": {"y": "2"}}},
        content_type="application/merge-patch+json",
    )  # fmt: skip
    assert isinstance(let.go(made), Decision)
    assert kube.read(PATH)["metadata"]["labels"] == {
        "x": "1",
        "y": "2",
        names.STEERING: names.RELEASED,
    }


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(pod(gates=[names.HOLD, "kueue.x-k8s.io/admission"]), id="others hold it too"),
        pytest.param(pod(), id="it was let go already"),
    ],
)
def test_there_is_nothing_to_let_go(kube: Kube, let: Let, obj: Object) -> None:
    made = kube.make(obj)
    assert let.go(made) is None
    assert kube.read(PATH)["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_pod_that_may_not_be_changed_is_known_for_a_while(
    let: Let, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = let.kube.make(held())
    monkeypatch.setattr(Writer, "patch_pod", lambda *_: Refused("a policy of theirs"))
    assert let.go(made) == REFUSED_S
    assert let.releaser.refused(made["metadata"]["uid"])
    assert not let.expectations.pending(made["metadata"]["uid"])


def test_our_gate_is_gone_in_the_end_though_others_hold_the_pod_as_well(
    kube: Kube, let: Let
) -> None:
    """They may wait for ours as we waited for theirs."""
    made = kube.make(pod(steering=names.HELD, gates=[names.HOLD, "kueue.x-k8s.io/admission"]))
    assert isinstance(let.releaser.let_go(seen(made), GO._replace(forced=True)), Decision)
    assert kube.read(PATH)["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]


def test_a_successor_of_the_same_name_is_not_let_go(kube: Kube, let: Let) -> None:
    made = kube.make(held())
    kube.client.write("DELETE", PATH, None)
    kube.make(held())
    assert let.go(made) is None
    assert kube.read(PATH)["spec"]["schedulingGates"]


def test_a_server_that_fails_is_asked_later_and_nothing_is_expected(kube: Kube, let: Let) -> None:
    made = kube.make(held())
    kube.fault(Fault(action="error", code=503, verbs=["patch"], times=1))
    again = let.go(made)
    assert isinstance(again, float)
    assert again > 0
    assert not let.expectations.pending(made["metadata"]["uid"])


def replacer(kube: Kube) -> Replacer:
    return Replacer(kube.writer, Workloads(kube.writer), Expectations())


def in_vain(name: str = "web-6d-a", **more: Any) -> Object:  # noqa: ANN401  as `pod` takes them
    return kept_off(pod(name, decision=VAIN, steering=names.RELEASED, **more), "n1")


def test_of_the_pods_that_wait_in_vain_one_is_deleted_at_a_time(kube: Kube) -> None:
    pods = [kube.make(in_vain(name)) for name in "abc"]
    made = {obj["metadata"]["uid"]: seen(obj) for obj in pods}
    work = replacer(kube)
    assert work.replace(SET, made, ()) is not None
    assert kube.names() == {"b", "c"}
    assert work.replace(SET, made, ()) is not None
    assert kube.names() == {"c"}


def test_a_pod_that_got_a_node_meanwhile_is_left_alone(kube: Kube) -> None:
    made = kube.make(in_vain())
    target = {"apiVersion": "v1", "kind": "Node", "name": "n2"}
    kube.client.write(
        "POST", f"{PATH}/binding", {"metadata": {"name": "web-6d-a"}, "target": target}
    )
    replacer(kube).replace(SET, {"u": seen(made)}, ())
    assert kube.names() == {"web-6d-a"}


@pytest.mark.parametrize(
    "owner",
    [
        Owner("example.io/v1", "Cluster", "shop", "k", "k-1"),
        Owner("v1", "Pod", "shop", "web-6d-a", "u"),
        Owner("batch.volcano.sh/v1alpha1", "Job", "shop", "k", "k-1"),
    ],
)
def test_pods_of_owners_that_may_not_make_another_are_left(kube: Kube, owner: Owner) -> None:
    made = kube.make(in_vain())
    assert replacer(kube).replace(owner, {"u": seen(made)}, ()) is None
    assert kube.names() == {"web-6d-a"}


@pytest.mark.parametrize(
    ("spec", "status", "gone"),
    [
        pytest.param({"backoffLimit": 6}, {"failed": 1}, True, id="5 retries are left"),
        pytest.param({"backoffLimit": 2}, {}, True, id="2 are"),
        pytest.param({"backoffLimit": 2}, {"failed": 1}, False, id="1 is: nothing to spare"),
        pytest.param({}, {"failed": 4}, True, id="6 are allowed where nothing is said"),
        pytest.param(
            {"backoffLimit": 6, "backoffLimitPerIndex": 1, "completionMode": "Indexed",
             "completions": 1},
            {}, False, id="each index has a limit of its own",
        ),
    ],
)  # fmt: skip
def test_a_job_loses_a_waiting_pod_while_it_can_lose_another(
    kube: Kube, spec: Object, status: Object, *, gone: bool
) -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {**pod()["spec"], "restartPolicy": "Never"},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sim"},
        "spec": {"template": template, **spec},
        "status": status,
    }
    uid = kube.make(job, "/apis/batch/v1/namespaces/shop/jobs")["metadata"]["uid"]
    made = kube.make(in_vain(owner=(*JOB[:3], uid)))
    replacer(kube).replace(Owner(*JOB[:2], "shop", "sim", uid), {"u": seen(made)}, ())
    assert (kube.names() == set()) is gone


class Rooms:
    """A RoomReconciler and a node n1 on which the owner rs-1 was rejected."""

    def __init__(self, kube: Kube, rejected_at: datetime, room: datetime | None) -> None:
        annotations = {names.ROOM_SINCE: room.isoformat()} if room else {}
        obj = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "annotations": annotations},
        }
        made = kube.make(obj, "/api/v1/nodes")
        self.kube, self.queue, self.state = kube, Queue(), State()
        self.snapshot = snapshot(failed(pod(), at=rejected_at), labels=TAKES_PART)
        self.snapshot.rooms.update({"n1": room} if room else {})  # type: ignore[attr-defined]  a dict
        node_now = msgspec.convert(made, FullNode)
        self.rooms = RoomReconciler(
            lambda name: node_now if name == "n1" else None,
            self.state,
            lambda: self.snapshot,
            kube.writer,
            self.queue,
            lambda: NOW,
        )

    def written(self) -> str | None:
        metadata = self.kube.read("/api/v1/nodes/n1")["metadata"]
        found: str | None = metadata.get("annotations", {}).get(names.ROOM_SINCE)
        return found


NOW_TEXT = "2026-03-01T10:40:00Z"


@pytest.mark.parametrize(
    ("rejected_at", "room", "again", "written", "woken"),
    [
        pytest.param(ago(60), None, None, NOW_TEXT, 0, id="news: it is written"),
        pytest.param(ago(60), ago(90), None, NOW_TEXT, 0, id="there was room, but before that"),
        pytest.param(ago(60), ago(30), None, None, 1, id="known: who was rejected is woken"),
        pytest.param(ago(1), ago(2), PAUSE_S, None, 0, id="it was written just before"),
        pytest.param(
            NOW + timedelta(minutes=5), NOW, None, None, 1, id="a kubelet's clock is ahead"
        ),
    ],
)
def test_room_on_a_node(  # noqa: PLR0913, PLR0917  a table
    kube: Kube,
    rejected_at: datetime,
    room: datetime | None,
    again: float | None,
    written: str | None,
    woken: int,
) -> None:
    rooms = Rooms(kube, rejected_at, room)
    before = rooms.written()
    assert rooms.rooms.reconcile("n1") == again
    assert rooms.written() == (written or before)
    assert len(rooms.queue) == woken


def test_room_is_told_though_somebody_else_writes_to_the_node_at_the_same_time(kube: Kube) -> None:
    rooms = Rooms(kube, ago(60), None)
    kube.fault(Fault(action="conflict", verbs=["patch"], times=1))
    assert rooms.rooms.reconcile("n1") == RETRY_S
    assert rooms.rooms.reconcile("n1") is None
    assert rooms.written() == NOW_TEXT


def test_who_was_rejected_is_woken_when_it_is_written(kube: Kube) -> None:
    rooms = Rooms(kube, ago(60), ago(30))
    rooms.rooms.hope("n1")
    rooms.rooms.hope("n2")
    assert (rooms.queue.get(), len(rooms.queue)) == (Key("owner", "shop/rs-1"), 0)


def test_a_node_that_joins_wakes_all_who_have_pods_to_let_go(kube: Kube) -> None:
    rooms = Rooms(kube, ago(60), None)
    rooms.state.steered.put("rs-9", "u", seen(held()))
    rooms.state.newcomer = Newcomer("n7", NOW)
    assert rooms.rooms.reconcile("n7") is None
    assert rooms.queue.get() == Key("owner", "rs-9")
    rooms.rooms.reconcile("n8")
    assert len(rooms.queue) == 0


def test_nothing_is_sent_by_who_does_not_lead(kube: Kube) -> None:
    made = kube.make(held())
    idle = Writer(kube.client, threading.Event(), allowed=lambda: False)
    releaser = Releaser(idle, Policy(), snapshot, Expectations(), lambda: NOW)
    assert isinstance(releaser.let_go(seen(made), GO), float)
    assert kube.read(PATH)["spec"]["schedulingGates"]
