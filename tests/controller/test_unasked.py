"""Pods that the webhook was not asked about (case 55: blocked)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from controller_parts import NOW, Kube, live_pod, pod, snapshot

from controller.queue import Queue
from controller.unasked import ENOUGH, Unasked
from evencore.domain import names
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from evencore.kube.events import About

Object = dict[str, Any]


def asks(cpu: str, name: str = "web-6d-a", **metadata: Any) -> Object:  # noqa: ANN401  as `pod` takes it
    """Return a pod that nobody has changed."""
    made = pod(name, **metadata)
    amounts = {"cpu": cpu, "memory": "1Gi"}
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    return made


class Desk:
    """One of them, with a clock that a test moves and ears for what it tells."""

    def __init__(self, kube: Kube, *, leads: bool = True, labels: Object | None = None) -> None:
        self._kube = kube
        self.now = NOW
        self.told: list[tuple[str, str, str]] = []
        self.queue = Queue()
        known = snapshot(labels=labels)
        self.unasked = Unasked(
            self.queue,
            lambda: leads,
            Policy(),
            lambda: known,
            kube.writer,
            self,  # type: ignore[arg-type]  a double
            lambda: self.now,
        )

    def tell(self, about: About, reason: str, message: str, *, warning: bool) -> None:
        assert warning
        self.told.append((f"{about.kind}/{about.name}", reason, message))

    def comes(self, obj: Object, after_s: float = 2) -> None:
        """Have a pod be created and seen."""
        self.now += timedelta(seconds=after_s)
        made = self._kube.make(obj)
        name = made["metadata"]["name"]
        self.unasked.seen("pods", f"shop/{name}", None, live_pod(made))
        if len(self.queue):
            key = self.queue.get()
            assert key is not None
            self.unasked.reconcile(key.about)
            self.queue.done(key)


def test_three_pods_that_would_have_been_changed_are_told_of(kube: Kube) -> None:
    desk = Desk(kube)
    for number in range(ENOUGH):
        assert desk.told == []
        desk.comes(asks("3", f"web-{number}"))
    assert {(whom, reason) for whom, reason, _ in desk.told} == {
        ("Pod/web-2", names.WEBHOOK_NOT_CALLED),
        ("ReplicaSet/web-6d", names.WEBHOOK_NOT_CALLED),
    }
    text = desk.told[0][2]
    assert "container a: cpu 3 → 4" in text
    assert "3 such pods within 1 min" in text
    assert "no admission traffic although pods are being created" in text
    assert "firewall between the control plane and the webhook's port" in text


def test_it_is_told_again_a_minute_later_and_not_with_every_pod(kube: Kube) -> None:
    desk = Desk(kube)
    for number in range(ENOUGH + 5):
        desk.comes(asks("3", f"web-{number}"))
    assert len(desk.told) == 2
    desk.comes(asks("3", "late"), after_s=61)
    assert len(desk.told) == 4


@pytest.mark.parametrize(
    ("cpu", "more", "labels"),
    [
        pytest.param("4", {}, None, id="it needs nothing: unmarked whether we were asked or not"),
        pytest.param("3", {"annotations": {names.CPU: "keep"}}, None, id="its author keeps it"),
        pytest.param("3", {"annotations": {names.CPU: "warn"}}, None, id="only warned of"),
        pytest.param("3", {"labels": {names.ADMISSION: names.DISABLED}}, None, id="it opted out"),
        pytest.param("3", {}, {}, id="its namespace takes no part"),
    ],
)
def test_pods_that_we_would_not_have_changed_tell_nothing(
    kube: Kube, cpu: str, more: Object, labels: Object | None
) -> None:
    desk = Desk(kube, labels=labels)
    for number in range(ENOUGH + 1):
        desk.comes(asks(cpu, f"web-{number}", **more))
    assert desk.told == []


def test_one_that_we_were_asked_about_in_between_begins_the_count_anew(kube: Kube) -> None:
    desk = Desk(kube)
    for number in range(ENOUGH - 1):
        desk.comes(asks("3", f"web-{number}"))
    desk.comes(asks("4", "marked", decision="container a: cpu 3 → 4, whole cores of 2 threads"))
    for number in range(ENOUGH - 1):
        desk.comes(asks("3", f"later-{number}"))
    assert desk.told == []


def test_misses_of_more_than_a_quarter_of_an_hour_ago_are_forgotten(kube: Kube) -> None:
    desk = Desk(kube)
    for number in range(ENOUGH):
        desk.comes(asks("3", f"web-{number}"), after_s=8 * 60)
    assert desk.told == []


def test_in_a_flood_only_one_a_second_is_read(kube: Kube) -> None:
    desk = Desk(kube)
    desk.comes(asks("3", "first"))
    for number in range(ENOUGH):
        desk.comes(asks("3", f"web-{number}"), after_s=0.01)
    assert desk.told == []


def test_who_does_not_lead_and_who_saw_a_pod_before_looks_at_nothing(kube: Kube) -> None:
    seen = live_pod(asks("3"))
    follower, leader = Desk(kube, leads=False), Desk(kube)
    follower.unasked.seen("pods", "shop/web-6d-a", None, seen)
    leader.unasked.seen("pods", "shop/web-6d-a", seen, seen)
    assert (len(follower.queue), len(leader.queue)) == (0, 0)
