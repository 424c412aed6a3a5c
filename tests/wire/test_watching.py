"""Watches: what comes over one stream, however it is cut into pieces."""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING

import pytest
from wire.scripted import CLEAN, CUT, ScriptedServer, Stream, a_list, event, status, thing
from wire.support import (
    PATH,
    THINGS,
    FakeClock,
    Recorder,
    Thing,
    client_of,
    living,
    reflecting,
)

from evencore.kube.reflector import Reflector, Rules

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_watch_asks_for_bookmarks_and_a_bounded_jittered_time(
    server: ScriptedServer, clock: FakeClock
) -> None:
    recorder = Recorder()
    lives = [living(clock, recorder, 250.0, CLEAN) for _ in range(2)]
    server.script(PATH, a_list([], 9), *lives)
    numbers = iter([0.0, 0.5, 0.99])
    with reflecting(server, clock, handler=recorder, random=lambda: next(numbers)):
        watches = server.wait_seen(4)[1:]
    assert [one.query["timeoutSeconds"] for one in watches] == ["240", "270", "299"]
    assert {one.query["allowWatchBookmarks"] for one in watches} == {"true"}
    assert {one.query["resourceVersion"] for one in watches} == {"9"}
    assert clock.waits == []  # they ended as agreed


def test_events_change_what_the_list_has_shown(server: ScriptedServer, clock: FakeClock) -> None:
    lines = (
        event("ADDED", thing("b", "1", 11)),
        event("MODIFIED", thing("a", "2", 12)),
        event("DELETED", thing("a", "2", 13)),
    )
    server.script(PATH, a_list([thing("a", "1", 3)], 10), Stream(lines))
    with reflecting(server, clock) as (reflector, recorder):
        recorder.wait_calls(
            ("replace", ["a"]), ("upsert", "b", "1"), ("upsert", "a", "2"), ("delete", "a")
        )
        assert reflector.stats.events == 3


def _bytewise(body: bytes) -> tuple[bytes, ...]:
    return tuple(body[n : n + 1] for n in range(len(body)))


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(lambda body: (body,), id="all events in one chunk"),
        pytest.param(_bytewise, id="each byte a chunk"),
        pytest.param(lambda body: (body[:150], body[150:]), id="a chunk ends within a line"),
        pytest.param(lambda body: (body[:-1], body[-1:]), id="the newline comes alone"),
        pytest.param(lambda body: (b"\n\n", body, b"\r\n\n"), id="empty lines between"),
    ],
)
def test_it_does_not_matter_how_lines_are_cut_into_chunks(
    server: ScriptedServer, clock: FakeClock, cut: Callable[[bytes], tuple[bytes, ...]]
) -> None:
    body = b"".join(event("ADDED", thing(f"t{n}", "ü" * n, n + 2)) for n in range(4))
    server.script(PATH, a_list([]), Stream(cut(body)))
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", []), *[("upsert", f"t{n}", "ü" * n) for n in range(4)])


def test_a_stream_cut_within_a_line_gives_no_half_event_and_resumes_after_the_last_whole_one(
    server: ScriptedServer, clock: FakeClock
) -> None:
    whole, half = event("ADDED", thing("a", "1", 5)), event("ADDED", thing("b", "1", 6))
    server.script(
        PATH,
        a_list([], 4),
        Stream((whole, half[:-40]), CUT),
        Stream((half[:-1],), CLEAN),  # all but the newline
        Stream((half,)),
    )
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", []), ("upsert", "a", "1"), ("upsert", "b", "1"))
    versions = [one.query["resourceVersion"] for one in server.seen if one.watch]
    assert versions == ["4", "5", "5"]


def test_a_bookmark_advances_the_version_and_nothing_else(
    server: ScriptedServer, clock: FakeClock
) -> None:
    mark = {"kind": "Thing", "metadata": {"resourceVersion": "99"}}
    server.script(PATH, a_list([], 4), Stream((event("BOOKMARK", mark),), CUT))
    with reflecting(server, clock) as (_, recorder):
        assert server.wait_seen(3)[-1].query["resourceVersion"] == "99"
        recorder.wait_calls(("replace", []))


def test_a_type_of_event_that_we_do_not_know_changes_nothing(
    server: ScriptedServer, clock: FakeClock
) -> None:
    lines = (event("POLISHED", thing("a", "1", 5)), event("ADDED", thing("b", "1", 6)))
    server.script(PATH, a_list([], 4), Stream(lines))
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", []), ("upsert", "b", "1"))


@pytest.mark.parametrize(
    ("line", "resumed_from"),
    [
        pytest.param(event("ADDED", thing("odd", 5, 6)), "6", id="a number where text belongs"),
        pytest.param(event("ADDED", {"metadata": None}), "5", id="no metadata"),
        pytest.param(event("ADDED", None), "5", id="null"),
        pytest.param(b'{"type":null,"object":{}}\n', "5", id="no type"),
        pytest.param(b"[1]\n", "5", id="a list"),
        pytest.param(b"<html>\n", "5", id="no JSON"),
        pytest.param(b"\xff\xfe\n", "5", id="no text"),
    ],
)
def test_an_event_that_does_not_decode_is_skipped_and_the_watch_goes_on(
    server: ScriptedServer,
    clock: FakeClock,
    line: bytes,
    resumed_from: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.script(
        PATH,
        a_list([thing("a")], 4),
        Stream((event("ADDED", thing("b", "1", 5)), line, line), CUT),
        Stream((event("ADDED", thing("c", "1", 7)),)),
    )
    with caplog.at_level(logging.WARNING), reflecting(server, clock) as (reflector, recorder):
        recorder.wait_until(lambda it: "c" in it.objects)
        assert sorted(recorder.objects) == ["a", "b", "c"]
        assert reflector.stats.skipped == 2
    assert server.seen[-1].query["resourceVersion"] == resumed_from
    assert caplog.text.count("cannot be read and is left out") == 1


def test_an_object_that_becomes_unreadable_leaves_the_picture_as_a_list_would_leave_it_out(
    server: ScriptedServer, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    lines = (event("MODIFIED", thing("a", 7, 5)), event("MODIFIED", thing("a", "well", 6)))
    server.script(PATH, a_list([thing("a", "1")], 4), Stream(lines))
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", ["a"]), ("delete", "a"), ("upsert", "a", "well"))
    assert "a of /api/v1/things cannot be read" in caplog.text


def test_an_unreadable_object_can_still_be_deleted(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(PATH, a_list([thing("a", "1")], 4), Stream((event("DELETED", thing("a", 7, 5)),)))
    with reflecting(server, clock) as (reflector, recorder):
        recorder.wait_calls(("replace", ["a"]), ("delete", "a"))
        assert reflector.stats.skipped == 0


@pytest.mark.parametrize(
    "before",
    [
        pytest.param((), id="from the start"),
        pytest.param((event("ADDED", thing("a", "1", 5)),), id="after an event"),
    ],
)
def test_silence_is_a_dead_stream(
    server: ScriptedServer, clock: FakeClock, before: tuple[bytes, ...]
) -> None:
    server.script(PATH, a_list([], 4), Stream(before), Stream((event("ADDED", thing("b")),)))
    quick = Rules(shortest_watch_s=0.1, longest_watch_s=0.1, grace_s=0.1)
    with reflecting(server, clock, rules=quick) as (_, recorder):
        recorder.wait_until(lambda it: "b" in it.objects)
    assert server.seen[2].query["resourceVersion"] == ("5" if before else "4")
    assert clock.waits[0] >= 0.5


def test_an_error_event_that_is_not_410_resumes_and_one_that_comes_back_lists_again(
    server: ScriptedServer, clock: FakeClock
) -> None:
    bad = Stream((event("ERROR", status(500, "etcd lost its mind")),), CLEAN)
    good = event("ADDED", thing("a", "1", 5))
    server.script(PATH, a_list([], 4), bad, bad, Stream((good,), CUT), bad, bad, bad, a_list([], 8))
    with reflecting(server, clock):
        seen = server.wait_seen(9)
    assert [one.query.get("resourceVersion") for one in seen] == [
        *(None, "4", "4", "4"),
        *("5", "5", "5", None, "8"),
    ]


def test_an_error_event_that_cannot_be_read_is_a_failure_like_any_other(
    server: ScriptedServer, clock: FakeClock
) -> None:
    lines = [json.dumps({"type": "ERROR", "object": odd}).encode() + b"\n" for odd in (None, 3)]
    server.script(PATH, a_list([], 4), *(Stream((line,), CLEAN) for line in lines))
    with reflecting(server, clock) as (reflector, _):
        server.wait_seen(4)
        assert reflector.stats.failures == 2


def test_a_body_without_chunks_is_read_as_it_comes(
    server: ScriptedServer, clock: FakeClock
) -> None:
    from wire.scripted import Answer  # noqa: PLC0415  only here

    body = event("ADDED", thing("a", "1", 5)) + event("ADDED", thing("b", "1", 6))
    server.script(PATH, a_list([], 4), Answer(200, body))
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", []), ("upsert", "a", "1"), ("upsert", "b", "1"))
        assert server.wait_seen(3)[-1].query["resourceVersion"] == "6"


def test_a_watch_that_repeats_old_events_turns_nothing_back_and_does_nothing_twice(
    server: ScriptedServer, clock: FakeClock
) -> None:
    old = (
        event("ADDED", thing("a", "1", 5)),
        event("MODIFIED", thing("a", "2", 6)),
        event("ADDED", thing("b", "1", 7)),
        event("DELETED", thing("b", "1", 8)),
    )
    behind = event("BOOKMARK", {"metadata": {"resourceVersion": "6"}})
    server.script(
        PATH,
        a_list([], 4),
        Stream(old, CUT),
        Stream((*old, behind, event("MODIFIED", thing("a", "3", 9))), CUT),
        Stream(old, CUT),
        Stream((event("MODIFIED", thing("a", "4", 10)),)),
    )
    with reflecting(server, clock) as (reflector, recorder):
        recorder.wait_calls(
            ("replace", []),
            *(("upsert", "a", "1"), ("upsert", "a", "2"), ("upsert", "b", "1"), ("delete", "b")),
            ("upsert", "a", "3"),
            ("upsert", "a", "4"),
        )
        assert reflector.stats.repeats == 8
        assert reflector.stats.events == 6
    versions = [one.query["resourceVersion"] for one in server.seen if one.watch]
    assert versions == ["4", "8", "9", "9"]


@pytest.mark.parametrize("version", ["x5", "-1", "5.5", "9" * 5000])
def test_a_version_that_is_no_number_is_taken_as_it_comes(
    server: ScriptedServer, clock: FakeClock, version: str
) -> None:
    odd = thing("a", "1")
    odd["metadata"]["resourceVersion"] = version
    server.script(PATH, a_list([], 4), Stream((event("ADDED", odd),), CUT))
    with reflecting(server, clock) as (_, recorder):
        recorder.wait_calls(("replace", []), ("upsert", "a", "1"))
        assert server.wait_seen(3)[-1].query["resourceVersion"] == version


def test_what_is_kept_is_what_the_handler_gets_and_what_it_cannot_read_is_left_out(
    server: ScriptedServer, clock: FakeClock
) -> None:
    told: list[tuple[str, object]] = []
    done, stop = threading.Event(), threading.Event()

    class Numbers:
        def replace(self, objects: dict[str, int]) -> None:
            told.append(("replace", dict(objects)))

        def upsert(self, key: str, number: int) -> None:
            told.append((key, number))
            if number == 9:
                done.set()

        def delete(self, key: str) -> None:
            told.append((key, None))

    lines = (
        event("MODIFIED", thing("a", "seven", 5)),
        event("ADDED", thing("b", "8", 6)),
        event("ADDED", thing("c", "9", 7)),
    )
    server.script(PATH, a_list([thing("a", "7"), thing("odd", "eight")], 4), Stream(lines))
    client = client_of(server)
    reflector = Reflector(
        client, THINGS, Thing, Numbers(), keep=lambda it: int(it.payload), clock=clock
    )
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    assert done.wait(10)
    stop.set()
    thread.join(10)
    assert told == [("replace", {"a": 7}), ("a", None), ("b", 8), ("c", 9)]
    assert reflector.stats.skipped == 2
    client.close()
