"""Events on the wire: each matter one object, counted up, and not written all the time."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from controller_parts import NOW
from wire.scripted import Answer, ScriptedServer, refusal

from controller.queue import Queue
from controller.reporter import AGAIN_S, Reporter
from evencore.kube.events import About

if TYPE_CHECKING:
    from evencore.kube.writer import Writer

EVENTS = "/api/v1/namespaces/shop/events"
ABOUT = About("apps/v1", "ReplicaSet", "shop", "web-6d", "rs-1")
WELL = Answer(body=b"{}")


class Desk:
    """A Reporter, the queue that it fills, and the server that it writes to."""

    def __init__(self, server: ScriptedServer, writer: Writer) -> None:
        self.server, self.time, self.wall = server, 0.0, NOW
        self.queue = Queue(lambda: self.time)
        self.reporter = Reporter(writer, self.queue, lambda: self.wall)
        server.otherwise(EVENTS, WELL)

    def tell(self, message: str, reason: str = "PodHeld") -> None:
        self.reporter.tell(ABOUT, reason, message)

    def write(self) -> float | None:
        """Write what is queued next, whenever it is due; returns what the reporter does."""
        self.time += 3600
        key = self.queue.get()
        assert key is not None
        self.server.otherwise(f"{EVENTS}/{key.about}", WELL)
        again = self.reporter.write(key.about)
        self.queue.done(key)
        return again

    def sent(self) -> list[tuple[str, str, int]]:
        bodies = [(seen.verb, json.loads(seen.body)) for seen in self.server.seen]
        return [(method, body["message"], body["count"]) for method, body in bodies]


@pytest.fixture
def desk(server: ScriptedServer, writer: Writer) -> Desk:
    return Desk(server, writer)


def test_what_is_told_again_is_counted_in_the_same_object(desk: Desk) -> None:
    desk.tell("one")
    desk.write()
    desk.wall += timedelta(seconds=30)
    desk.tell("two")
    desk.tell("three")
    desk.write()
    assert desk.sent() == [("POST", "one", 1), ("PATCH", "three", 3)]
    assert len(desk.queue) == 0
    assert len({seen.path.removeprefix(EVENTS) for seen in desk.server.seen}) == 2


def test_another_reason_is_another_object(desk: Desk) -> None:
    desk.tell("one")
    desk.tell("let go", "PodReleased")
    desk.write()
    desk.write()
    assert sorted(desk.sent()) == [("POST", "let go", 1), ("POST", "one", 1)]


def test_the_same_object_is_written_every_few_seconds_at_most(desk: Desk) -> None:
    desk.tell("one")
    desk.write()
    for number in range(100):
        desk.tell(str(number))
    assert len(desk.queue) == 1
    waits = desk.queue._wait_s()  # noqa: SLF001  when it is due is not told otherwise
    assert waits == AGAIN_S


@pytest.mark.parametrize(
    ("answers", "want"),
    [
        pytest.param([refusal(409)], [("POST", "x", 1), ("PATCH", "x", 1)], id="ours, already"),
        pytest.param([refusal(403)], [("POST", "x", 1)], id="its namespace ends"),
        pytest.param([refusal(404)], [("POST", "x", 1)], id="its namespace is gone"),
    ],
)
def test_first_writes(desk: Desk, answers: list[Answer], want: list[tuple[str, str, int]]) -> None:
    desk.server.script(EVENTS, *answers)
    desk.tell("x")
    assert desk.write() is None
    assert desk.sent() == want


def test_an_event_whose_hour_is_over_is_made_anew(desk: Desk) -> None:
    desk.tell("one")
    desk.write()
    name = json.loads(desk.server.seen[0].body)["metadata"]["name"]
    desk.tell("two")
    desk.server.script(f"{EVENTS}/{name}", refusal(404))
    assert desk.write() == 0.0
    desk.reporter.write(name)
    assert desk.sent() == [("POST", "one", 1), ("PATCH", "two", 2), ("POST", "two", 2)]


def test_a_server_that_fails_is_asked_later(desk: Desk) -> None:
    desk.server.script(EVENTS, refusal(503, Retry_After="9"))
    desk.tell("one")
    again = desk.write()
    assert again is not None
    assert again >= 9.0


def test_events_that_nobody_wrote_for_long_are_forgotten(desk: Desk) -> None:
    for number in range(5000):
        desk.tell("x", f"Reason{number}")
    assert desk.write() is None  # the first of all: forgotten before it was written
    assert desk.sent() == []


def test_a_long_name_that_is_cut_stays_a_name(desk: Desk) -> None:
    about = ABOUT._replace(name="a" * 199 + "-" + "b" * 40)
    desk.reporter.tell(about, "PodHeld", "x")
    desk.write()
    name = json.loads(desk.server.seen[0].body)["metadata"]["name"]
    assert name.startswith("a" * 199 + ".")
