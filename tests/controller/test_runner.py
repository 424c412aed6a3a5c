"""What starts and stops in which order, and that a mistake costs nobody but its own key."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

from controller.queue import Key, Queue
from controller.runner import Controller, Lane, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from evencore.kube.lease import Elector
    from evencore.kube.snapshots import LiveSnapshot

PATIENCE_S = 30.0


class Cast:
    """View, elector and reconciler that note what happens to them, in order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.elected = threading.Event()
        self.complete = True
        self.may_lead = True
        self.stop, self.lost = threading.Event(), threading.Event()
        self.queue, self.news = Queue(), Queue()
        self.result: list[bool] = []
        self.work: Callable[[str], float | None] = self._work
        self.controller = Controller(
            Parts(
                cast("LiveSnapshot", _View(self)),
                (Lane(self.queue, 2), Lane(self.news, 1)),
                cast("Elector", self),
                lambda: self.order.append("lead"),
                {"owner": self._one},
            ),
            self.stop,
            self.lost,
        )

    def _one(self, about: str) -> float | None:
        return self.work(about)

    def _work(self, about: str) -> float | None:
        self.order.append(about)
        return None

    def run(self, stop: threading.Event) -> None:
        """Lead, as an Elector does, until told to stop."""
        self.order.append("contend")
        if self.may_lead:
            self.elected.set()
        stop.wait(PATIENCE_S)
        self.order.append("lease given back")

    def leads(self) -> bool:
        return self.elected.is_set()

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=lambda: self.result.append(self.controller.run()))
        thread.start()
        return thread

    def until(self, true: Callable[[], Any]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, self.order
            time.sleep(0.005)


class _View:
    def __init__(self, owner: Cast) -> None:
        self._owner = owner

    def start(self) -> None:
        self._owner.order.append("watch")

    def stop(self) -> None:
        self._owner.order.append("watches end")

    def missing(self) -> str | None:
        return None if self._owner.complete else "waiting for the first list of nodes"


def test_everything_starts_and_stops_in_order() -> None:
    actors = Cast()
    actors.queue.add(Key("owner", "work"))
    thread = actors.start()
    actors.until(lambda: "work" in actors.order)
    actors.controller.stop()
    thread.join(PATIENCE_S)
    assert actors.result == [True]
    assert actors.order == [
        "watch", "contend", "lead", "work", "lease given back", "watches end",
    ]  # fmt: skip


def test_nobody_contends_before_the_view_is_complete() -> None:
    actors = Cast()
    actors.complete = False
    thread = actors.start()
    actors.until(lambda: actors.order)
    assert actors.controller.waiting() == ["waiting for the first list of nodes"]
    actors.controller.stop()
    thread.join(PATIENCE_S)
    assert actors.order == ["watch", "watches end"]


def test_nobody_works_who_is_not_elected() -> None:
    actors = Cast()
    actors.may_lead = False
    actors.queue.add(Key("owner", "work"))
    thread = actors.start()
    actors.until(lambda: "contend" in actors.order)
    actors.controller.stop()
    thread.join(PATIENCE_S)
    assert actors.order == ["watch", "contend", "lease given back", "watches end"]


def test_a_lost_lease_ends_it_with_a_no() -> None:
    actors = Cast()
    thread = actors.start()
    actors.until(lambda: "lead" in actors.order)
    actors.lost.set()
    actors.stop.set()
    thread.join(PATIENCE_S)
    assert actors.result == [False]


def test_a_mistake_costs_its_own_key_some_time_and_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    actors, tries = Cast(), list[str]()

    def work(about: str) -> float | None:
        tries.append(about)
        if about == "bad" and tries.count("bad") == 1:
            raise RuntimeError("as scripted")
        return None

    actors.work = work
    for about in ("bad", "good"):
        actors.queue.add(Key("owner", about))
    thread = actors.start()
    actors.until(lambda: tries.count("bad") == 2 and "good" in tries)
    actors.controller.stop()
    thread.join(PATIENCE_S)
    assert len([r for r in caplog.records if "a mistake of ours" in r.message]) == 1
    assert "as scripted" in caplog.text


def test_who_wants_to_look_again_does() -> None:
    actors, tries = Cast(), list[str]()

    def work(about: str) -> float | None:
        tries.append(about)
        return 0.001 if len(tries) < 5 else None

    actors.work = work
    actors.queue.add(Key("owner", "a"))
    thread = actors.start()
    actors.until(lambda: len(tries) == 5)
    actors.controller.stop()
    thread.join(PATIENCE_S)
    assert tries == ["a"] * 5
