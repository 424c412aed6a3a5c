"""Lists, page by page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from wire.scripted import CLEAN, Answer, Stream, a_list, refusal, thing
from wire.support import PATH, THINGS, FakeClock, assert_paced, reflecting

from evencore.kube.reflector import Rules
from evencore.kube.resource import Resource

if TYPE_CHECKING:
    from wire.scripted import ScriptedServer


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_a_list_is_complete_whatever_its_size_is_to_the_page_size(
    server: ScriptedServer, clock: FakeClock, count: int
) -> None:
    things = [thing(f"t{n}", namespace="ns") for n in range(count)]
    pages = [things[start : start + 2] for start in range(0, count, 2)] or [[]]
    tokens = [f"t{n}" for n in range(1, len(pages))] + [""]
    server.script(PATH, *(a_list(p, 7, t) for p, t in zip(pages, tokens, strict=True)))
    with reflecting(server, clock, rules=Rules(page_size=2)) as (reflector, recorder):
        watch = server.wait_seen(len(pages) + 1)[-1]
        recorder.wait_calls(("replace", [f"ns/t{n}" for n in range(count)]))
        assert reflector.synced.is_set()
    lists = server.seen[:-1]
    assert [one.query.get("continue", "") for one in lists] == ["", *tokens[:-1]]
    assert {one.query["limit"] for one in lists} == {"2"}
    assert not any("resourceVersion" in one.query for one in lists)
    assert watch.watch
    assert watch.query["resourceVersion"] == "7"
    assert clock.waits == []


def test_selectors_and_the_form_of_the_answer_are_asked_for(
    server: ScriptedServer, clock: FakeClock
) -> None:
    path = "/api/v1/namespaces/a b/pods"
    resource = Resource(path, "app in (x,y)", "status.phase=Failed", metadata_only=True)
    quoted = path.replace(" ", "%20")
    server.script(quoted, a_list([]))
    with reflecting(server, clock, resource=Resource(quoted, *_selectors(resource))):
        listed, watched = server.wait_seen(2)
    for one in (listed, watched):
        assert one.query["labelSelector"] == "app in (x,y)"
        assert one.query["fieldSelector"] == "status.phase=Failed"
    metadata = "application/json;as={};g=meta.k8s.io;v=v1,application/json"
    assert listed.headers["accept"] == metadata.format("PartialObjectMetadataList")
    assert watched.headers["accept"] == metadata.format("PartialObjectMetadata")


def _selectors(resource: Resource) -> tuple[str, str, bool]:
    return resource.label_selector, resource.field_selector, resource.metadata_only


def test_an_expired_continue_starts_the_list_again_and_nothing_of_the_old_one_is_kept(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(
        PATH,
        a_list([thing("vanished"), thing("stays")], 1, "old"),
        refusal(410, "the provided continue parameter is too old"),
        a_list([thing("stays")], 5, "new"),
        a_list([thing("came")], 5),
    )
    with reflecting(server, clock) as (_, recorder):
        seen = server.wait_seen(5)
        recorder.wait_calls(("replace", ["came", "stays"]))
    assert [one.query.get("continue") for one in seen] == [None, "old", None, "new", None]
    assert seen[-1].query["resourceVersion"] == "5"
    assert clock.waits == [1.0]  # two requests paid for


def test_a_continue_that_expires_again_and_again_never_makes_three_requests_a_second(
    server: ScriptedServer, clock: FakeClock
) -> None:
    for n in range(6):
        server.script(PATH, a_list([thing("a")], n + 1, f"token-{n}"), refusal(410))
    with reflecting(server, clock):
        assert_paced([one.at for one in server.wait_seen(12)], 12)


def test_a_page_that_fails_is_asked_for_again_not_the_whole_list(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(
        PATH,
        a_list([thing("a")], 3, "second"),
        refusal(500),
        Answer(200, b"<html>a proxy's page</html>"),
        refusal(429, Retry_After="7"),
        a_list([thing("b")], 3),
    )
    with reflecting(server, clock) as (_, recorder):
        seen = server.wait_seen(6)
        recorder.wait_calls(("replace", ["a", "b"]))
    assert [one.query.get("continue") for one in seen[:5]] == [None, *["second"] * 4]
    assert clock.waits == [1.0, 1.0, 7.0]
    assert_paced([one.at for one in seen], 6)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({**thing("odd"), "payload": 3}, id="a number where text belongs"),
        pytest.param({**thing("odd"), "payload": None}, id="a null where text belongs"),
        pytest.param({"metadata": {"name": 5}, "payload": ""}, id="a number for a name"),
        pytest.param({"metadata": None}, id="no metadata"),
        pytest.param(None, id="null"),
        pytest.param([], id="a list"),
        pytest.param("text", id="text"),
        pytest.param({**thing("odd"), "metadata": {"name": None}}, id="null for a name"),
    ],
)
def test_an_object_that_does_not_decode_is_left_out_and_counted_and_the_others_are_kept(
    server: ScriptedServer, clock: FakeClock, odd: object, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(PATH, a_list([thing("a"), odd, thing("b")]))
    with caplog.at_level(logging.WARNING), reflecting(server, clock) as (reflector, recorder):
        server.wait_seen(2)
        recorder.wait_calls(("replace", ["a", "b"]))
        assert reflector.stats.skipped == 1
    assert len(caplog.records) == 1
    assert "cannot be read and is left out" in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"metadata":{},"items":[]}', id="no version to watch from"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_an_answer_that_is_no_list_is_a_failure_and_nothing_is_reported(
    server: ScriptedServer, clock: FakeClock, body: bytes
) -> None:
    server.script(PATH, Answer(200, body), a_list([thing("a")]))
    with reflecting(server, clock) as (reflector, recorder):
        server.wait_seen(3)
        recorder.wait_calls(("replace", ["a"]))
        assert reflector.stats.failures == 1
    assert clock.waits == [0.5]


def test_a_null_for_an_empty_list_is_an_empty_list(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(PATH, Answer(200, b'{"metadata":{"resourceVersion":"4"},"items":null}'))
    with reflecting(server, clock) as (_, recorder):
        server.wait_seen(2)
        recorder.wait_calls(("replace", []))


def test_a_token_that_leads_nowhere_is_a_failure_not_an_endless_loop(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(PATH, *[a_list([], 1, "same")] * 5, a_list([], 1))
    with reflecting(server, clock, resource=THINGS):
        assert_paced([one.at for one in server.wait_seen(7)][:-1], 5)


def test_pages_that_come_slowly_are_waited_for_and_none_is_asked_for_twice(
    server: ScriptedServer, clock: FakeClock
) -> None:
    def drip(body: bytes) -> Stream:
        pieces = [body[start : start + 40] for start in range(0, len(body), 40)]
        slow = [part for piece in pieces for part in (piece, lambda: clock.advance(20.0))]
        return Stream(tuple(slow), CLEAN)

    pages = [
        a_list([thing(name)], 4, token) for name, token in (("a", "t1"), ("b", "t2"), ("c", ""))
    ]
    server.script(PATH, *(drip(page.body) for page in pages))
    with reflecting(server, clock) as (reflector, recorder):
        recorder.wait_calls(("replace", ["a", "b", "c"]))
        seen = server.wait_seen(4)
        assert reflector.stats.failures == 0
    assert [one.query.get("continue") for one in seen] == [None, "t1", "t2", None]
