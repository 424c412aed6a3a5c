"""Loops that fail: paced, resumed from the right place, and over as soon as the server is well."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

import pytest
from wire.scripted import (
    CLEAN,
    CUT,
    PATIENCE_S,
    Answer,
    Mute,
    ScriptedServer,
    Seen,
    Step,
    Stream,
    a_list,
    event,
    refusal,
    status,
    thing,
)
from wire.support import PATH, FakeClock, Recorder, assert_paced, client_of, living, reflecting
from wire.support import Thing as ThingView

from evencore.kube.reflector import Reflector, Rules
from evencore.kube.resource import Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

GONE_EVENT = Stream((event("ERROR", status(410, "too old resource version")),), CLEAN)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(refusal(500), id="500"),
        pytest.param(refusal(503), id="503"),
        pytest.param(refusal(403), id="403"),
        pytest.param(refusal(404), id="404"),
        pytest.param(refusal(410), id="410 to the first page"),
        pytest.param(Answer(302, b"", {"Location": "/elsewhere"}), id="a redirect"),
        pytest.param(Answer(200, b"not JSON"), id="not JSON"),
        pytest.param(Stream((b'{"metadata":',), CUT), id="cut within the body"),
    ],
)
def test_a_list_that_fails_is_tried_again_ever_more_slowly_until_it_works(
    server: ScriptedServer, clock: FakeClock, step: Step
) -> None:
    server.script(PATH, *[step] * 8, a_list([thing("a")]))
    with reflecting(server, clock) as (reflector, recorder):
        times = [one.at for one in server.wait_seen(10)]
        recorder.wait_calls(("replace", ["a"]))
        assert reflector.synced.is_set()
        assert reflector.stats.failures == 8
    assert_paced(times, 10)
    assert clock.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(refusal(500), id="500"),
        pytest.param(Stream((), CUT), id="cut at once"),
        pytest.param(Stream((b'{"type":"ADD',), CUT), id="cut within the first line"),
    ],
)
def test_a_watch_that_fails_resumes_from_its_version_ever_more_slowly(
    server: ScriptedServer, clock: FakeClock, step: Step
) -> None:
    server.script(PATH, a_list([thing("a")], 4), *[step] * 8)
    with reflecting(server, clock) as (reflector, recorder):
        seen = server.wait_seen(10)
        assert reflector.stats.lists == 1
        recorder.wait_calls(("replace", ["a"]))
    assert_paced([one.at for one in seen], 10)
    assert {one.query["resourceVersion"] for one in seen[1:]} == {"4"}
    assert clock.waits[1:] == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(refusal(410), id="as HTTP status"),
        pytest.param(GONE_EVENT, id="as ERROR event"),
        pytest.param(refusal(400, "invalid resourceVersion"), id="400: a version of another life"),
    ],
)
def test_410_again_and_again_lists_again_and_never_asks_three_times_a_second(
    server: ScriptedServer, clock: FakeClock, gone: Step
) -> None:
    for n in range(8):
        server.script(PATH, a_list([thing("a")], n + 1), gone)
    with reflecting(server, clock) as (reflector, recorder):
        seen = server.wait_seen(16)
        recorder.wait_until(lambda it: len(it.calls) == 8)
        assert reflector.stats.lists in (8, 9)
    assert_paced([one.at for one in seen], 16)
    assert [one.watch for one in seen[:16]] == [False, True] * 8


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Stream((), CLEAN), id="closed properly, but at once"),
        pytest.param(Answer(200, b""), id="empty"),
        pytest.param(Answer(200, b"<html>\n</html>\n"), id="a proxy's page"),
    ],
)
def test_a_version_from_which_nothing_ever_comes_is_given_up_for_a_new_list(
    server: ScriptedServer, clock: FakeClock, step: Step
) -> None:
    server.script(PATH, a_list([thing("a")], 4), *[step] * 3, a_list([thing("b")], 9), step)
    with reflecting(server, clock) as (_, recorder):
        seen = server.wait_seen(7)
        recorder.wait_calls(("replace", ["a"]), ("replace", ["b"]))
    assert [one.query.get("resourceVersion") for one in seen[1:]] == ["4"] * 3 + [None, "9", "9"]
    assert clock.waits[1:4] == [1.0, 2.0, 4.0]
    assert_paced([one.at for one in seen], 7)


def test_a_watch_that_ends_at_once_but_told_something_is_resumed_from_there(
    server: ScriptedServer, clock: FakeClock
) -> None:
    told = [Stream((event("BOOKMARK", thing("", version)),), CLEAN) for version in range(5, 10)]
    server.script(PATH, a_list([], 4), *told)
    with reflecting(server, clock) as (reflector, _):
        server.wait_seen(7)
        assert reflector.stats.lists == 1


def test_a_list_of_many_pages_is_paid_for_before_it_is_repeated(
    server: ScriptedServer, clock: FakeClock
) -> None:
    for n in range(2):
        pages = [a_list([thing(f"t{p}")], n + 1, f"p{p}" if p < 19 else "") for p in range(20)]
        server.script(PATH, *pages, refusal(410))
    with reflecting(server, clock):
        seen = server.wait_seen(42)
    assert seen[21].at - seen[0].at >= 21 / 2


def test_objects_that_vanished_while_we_could_not_watch_are_gone_after_the_new_list(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(
        PATH,
        a_list([thing("a"), thing("b")], 4),
        GONE_EVENT,
        a_list([thing("b", "2"), thing("c")], 9),
        Stream((event("DELETED", thing("b", "2", 10)),)),
    )
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", ["a", "b"]), ("replace", ["b", "c"]), ("delete", "b"))


def test_429_is_waited_for_as_long_as_the_server_asks_and_not_for_ever(
    server: ScriptedServer, clock: FakeClock
) -> None:
    busy = status(429, "slow down", details={"retryAfterSeconds": 9})
    server.script(
        PATH,
        refusal(429, Retry_After="20"),
        a_list([], 4),
        refusal(429, Retry_After="11"),
        Stream((event("ERROR", busy),), CLEAN),
        refusal(503, Retry_After="100000"),
        refusal(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
    )
    with reflecting(server, clock):
        server.wait_seen(7)
    assert clock.waits == [20.0, 11.0, 9.0, 300.0, 8.0]


def test_the_waits_start_over_only_after_a_stream_was_well_for_two_minutes(
    server: ScriptedServer, clock: FakeClock
) -> None:
    recorder = Recorder()
    nine, most, whole = (living(clock, recorder, seconds) for seconds in (9.0, 119.0, 121.0))
    bad = refusal(500)
    server.script(PATH, a_list([], 4), bad, bad, bad, nine, most, bad, whole, bad)
    with reflecting(server, clock, handler=recorder):
        server.wait_seen(10)
    # one second: the list and the watch after it are paid for
    assert clock.waits == [1.0, 1.0, 2.0, 4.0, 8.0, 15.0, 0.5, 1.0]
    assert_paced([one.at for one in server.seen], 10)


def test_a_balancer_that_cuts_every_stream_after_a_while_does_not_make_us_blind(
    server: ScriptedServer, clock: FakeClock
) -> None:
    recorder = Recorder()
    server.script(PATH, a_list([], 4), *(living(clock, recorder, 35.0) for _ in range(9)))
    with reflecting(server, clock, handler=recorder):
        server.wait_seen(11)
    assert max(clock.waits) == pytest.approx(3.5)


def test_a_server_that_is_not_there_is_tried_again_ever_more_slowly() -> None:
    with ScriptedServer() as server:
        client = client_of(server)
    stop = threading.Event()

    class Patience(FakeClock):
        def wait(self, stop: threading.Event, seconds: float) -> bool:
            if len(self.waits) == 7:
                stop.set()
            return super().wait(stop, seconds)

    patience = Patience()
    Reflector(
        client, Resource(PATH), ThingView, Recorder(), clock=patience, random=lambda: 0.5
    ).run(stop)
    assert patience.waits == [0.75, 1.5, 3.0, 6.0, 12.0, 22.5, 22.5, 22.5]
    client.close()


def test_a_handler_that_raises_gets_everything_again_and_the_thread_lives(
    server: ScriptedServer, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Moody(Recorder):
        def upsert(self, key: str, obj: ThingView) -> None:
            if len(self.calls) == 1:
                self.calls.append(("raised",))
                raise RuntimeError("not in the mood")
            super().upsert(key, obj)

        def replace(self, objects: Mapping[str, ThingView]) -> None:
            super().replace(objects)

    more = Stream((event("ADDED", thing("b", "1", 5)),))
    server.script(PATH, a_list([thing("a")], 4), more, a_list([thing("a")], 4), more)
    with (
        caplog.at_level(logging.ERROR),
        reflecting(server, clock, handler=Moody()) as (_, recorder),
    ):
        recorder.wait_calls(
            ("replace", ["a"]), ("raised",), ("replace", ["a"]), ("upsert", "b", "1")
        )
    assert "not in the mood" in caplog.text


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Stream(), id="a silent watch"),
        pytest.param(Stream((b'{"type":',)), id="a watch silent within a line"),
        pytest.param(Stream((event("ADDED", thing("a")),)), id="a watch silent after an event"),
    ],
)
def test_it_stops_within_a_moment_while_a_watch_is_silent(
    server: ScriptedServer, clock: FakeClock, step: Step
) -> None:
    server.script(PATH, a_list([]), step)
    with reflecting(server, clock) as (reflector, recorder):
        server.wait_seen(2)
        recorder.wait_until(lambda it: it.calls)
    # `reflecting` has measured the stop
    assert reflector.stats.failures == 0


def test_it_stops_within_a_moment_while_the_body_of_a_list_does_not_end(
    server: ScriptedServer, clock: FakeClock
) -> None:
    begun = threading.Event()
    server.script(PATH, Stream((b'{"metadata":', begun.set)))
    with reflecting(server, clock):
        assert begun.wait(5)


def test_it_stops_within_a_moment_while_it_waits(server: ScriptedServer) -> None:
    from evencore.kube.clock import SystemClock  # noqa: PLC0415  the only test with real waits

    server.script(PATH, refusal(429, Retry_After="300"))
    with reflecting(server, SystemClock()):  # type: ignore[arg-type]  # a Clock is a Clock
        server.wait_seen(1)
    assert len(server.seen) == 1


def test_a_request_without_an_answer_ends_with_its_read_timeout(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(PATH, a_list([], 4), Mute())
    quick = Rules(shortest_watch_s=0.1, longest_watch_s=0.1, grace_s=0.1)
    with reflecting(server, clock, rules=quick):
        server.wait_seen(3)


def test_an_answer_that_comes_after_the_stop_changes_nothing(
    server: ScriptedServer, clock: FakeClock
) -> None:
    stop, gate = threading.Event(), threading.Event()

    def late(_: Seen) -> Step:
        gate.wait(PATIENCE_S)
        return a_list([thing("a")])

    server.brain = late
    client, recorder = client_of(server), Recorder()
    reflector = Reflector(client, Resource(PATH), ThingView, recorder, clock=clock)
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    server.wait_seen(1)
    stop.set()
    gate.set()
    thread.join(PATIENCE_S)
    assert recorder.calls == []
    assert not reflector.synced.is_set()
    client.close()


def test_a_run_that_is_stopped_before_it_starts_asks_nothing(
    server: ScriptedServer, clock: FakeClock
) -> None:
    client = client_of(server)
    stop = threading.Event()
    stop.set()
    started = time.monotonic()
    Reflector(client, Resource(PATH), ThingView, Recorder(), clock=clock).run(stop)
    assert time.monotonic() - started < 1.0
    assert server.seen == []
    client.close()


def test_a_server_that_goes_away_and_comes_back_is_resumed_where_it_was() -> None:
    refused = threading.Event()

    class Patience(FakeClock):
        def wait(self, stop: threading.Event, seconds: float) -> bool:
            # The fifth wait ends when the server is back.
            if len(self.waits) == 4:
                refused.set()
                back.wait(PATIENCE_S)
            return super().wait(stop, seconds)

    back, patience, stop = threading.Event(), Patience(), threading.Event()
    recorder = Recorder()
    with ScriptedServer() as first:
        first.script(PATH, a_list([thing("a")], 4), Stream((event("ADDED", thing("b", "1", 5)),)))
        client = client_of(first)
        reflector = Reflector(
            client, Resource(PATH), ThingView, recorder, clock=patience, random=lambda: 0.0
        )
        thread = threading.Thread(target=reflector.run, args=(stop,))
        thread.start()
        recorder.wait_until(lambda it: "b" in it.objects)
    assert refused.wait(PATIENCE_S)
    with ScriptedServer(port=first.port) as second:
        second.script(PATH, Stream((event("DELETED", thing("a", "", 6)),)))
        back.set()
        recorder.wait_calls(("replace", ["a"]), ("upsert", "b", "1"), ("delete", "a"))
        assert second.seen[0].query["resourceVersion"] == "5"
        stop.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert reflector.stats.lists == 1
    assert patience.waits == [1.0, 1.0, 2.0, 4.0, 8.0]
    client.close()
