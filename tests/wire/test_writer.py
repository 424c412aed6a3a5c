"""Writes on the wire: what is sent, what comes of it, and how often."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from wire.scripted import CUT, PATIENCE_S, Answer, Mute, ScriptedServer, Stream, refusal, status
from wire.support import FakeClock, assert_paced, client_of

from evencore.kube.bucket import Bucket
from evencore.kube.client import connect
from evencore.kube.events import About, Event
from evencore.kube.writer import NAME, Conflict, Done, Gone, Later, Ref, Refused, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wire.scripted import Step

    from evencore.kube.outcome import Outcome

POD = Ref("team", "web-1", "uid-1")
NODE = Ref("", "n1", "uid-n1")
PATH = "/api/v1/namespaces/team/pods/web-1"
EVENTS = "/api/v1/namespaces/team/events"
NOW = datetime(2026, 11, 30, 10, 42, tzinfo=UTC)
EVENT = Event("web-1.17", About("v1", "Pod", *POD[:3]), "PodHeld", "held", NOW, NOW)
WELL = Answer(body=b'{"metadata":{"uid":"uid-1","resourceVersion":"8"}}')
UNGATE = [{"op": "remove", "path": "/spec/schedulingGates/0"}]


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def writer(server: ScriptedServer, clock: FakeClock, stop: threading.Event) -> Iterator[Writer]:
    client = client_of(server)
    yield Writer(client, stop, clock=clock, random=lambda: 0.0)
    client.close()


CALLS: dict[str, tuple[Callable[[Writer], Outcome], str, str, str, Any]] = {
    "delete": (
        lambda w: w.delete_pod(POD),
        "DELETE",
        PATH,
        "application/json",
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "uid-1"}},
    ),
    "delete this version": (
        lambda w: w.delete_pod(POD._replace(version="7")),
        "DELETE",
        PATH,
        "application/json",
        {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": "uid-1", "resourceVersion": "7"},
        },
    ),
    "patch": (
        lambda w: w.patch_pod(POD, UNGATE),
        "PATCH",
        PATH,
        "application/json-patch+json",
        [{"op": "test", "path": "/metadata/uid", "value": "uid-1"}, *UNGATE],
    ),
    "patch this version": (
        lambda w: w.patch_pod(POD._replace(version="7"), UNGATE),
        "PATCH",
        PATH,
        "application/json-patch+json",
        [
            {"op": "test", "path": "/metadata/uid", "value": "uid-1"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            *UNGATE,
        ],
    ),
    "annotate": (
        lambda w: w.annotate_pod(POD, {"evencore.io/decision": "why", "old": None}),
        "PATCH",
        PATH,
        "application/merge-patch+json",
        {
            "metadata": {
                "uid": "uid-1",
                "annotations": {"evencore.io/decision": "why", "old": None},
            }
        },
    ),
    "label": (
        lambda w: w.patch_node(NODE._replace(version="7"), {"evencore.io/node": "n1"}),
        "PATCH",
        "/api/v1/nodes/n1",
        "application/merge-patch+json",
        {
            "metadata": {
                "uid": "uid-n1",
                "resourceVersion": "7",
                "labels": {"evencore.io/node": "n1"},
            }
        },
    ),
    "label and annotate": (
        lambda w: w.patch_node(NODE, {"evencore.io/node": "n1"}, {"why": "name", "old": None}),
        "PATCH",
        "/api/v1/nodes/n1",
        "application/merge-patch+json",
        {
            "metadata": {
                "uid": "uid-n1",
                "labels": {"evencore.io/node": "n1"},
                "annotations": {"why": "name", "old": None},
            }
        },
    ),
    "tell": (lambda w: w.create_event(EVENT), "POST", EVENTS, "application/json", EVENT.body(NAME)),
    "tell again": (
        lambda w: w.repeat_event(EVENT),
        "PATCH",
        f"{EVENTS}/web-1.17",
        "application/merge-patch+json",
        {"count": 1, "lastTimestamp": "2026-11-30T10:42:00Z", "message": "held"},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_sent_names_the_object_that_is_meant_and_who_changes_it(
    server: ScriptedServer, writer: Writer, name: str
) -> None:
    call, verb, path, content_type, body = CALLS[name]
    server.script(path, WELL)
    assert call(writer) == Done("uid-1", "8")
    (seen,) = server.seen
    assert (seen.verb, seen.path, seen.headers["content-type"]) == (verb, path, content_type)
    assert json.loads(seen.body) == body
    assert seen.query == ({} if verb == "DELETE" else {"fieldManager": "evencore-controller"})


def test_it_says_who_it_is(server: ScriptedServer, tmp_path: Path) -> None:
    config = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path = tmp_path / "config"
    path.write_text(json.dumps(config))
    client = connect(str(path), agent=NAME)
    server.script(PATH, WELL)
    Writer(client, threading.Event()).delete_pod(POD)
    assert server.seen[0].headers["user-agent"].startswith("evencore-controller/")
    assert server.seen[0].headers["authorization"] == "Bearer t"
    client.close()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        pytest.param(Answer(body=b'{"kind":"Status"}'), Done, id="a Status"),
        pytest.param(Answer(body=b"<html>"), Done, id="2xx and nonsense"),
        pytest.param(refusal(404), Gone, id="404"),
        pytest.param(refusal(409), Conflict, id="409"),
        pytest.param(refusal(403), Refused, id="403"),
        pytest.param(refusal(400), Refused, id="400"),
        pytest.param(refusal(401), Later, id="401"),
        pytest.param(refusal(429, Retry_After="3"), Later, id="429"),
        pytest.param(refusal(500), Later, id="500"),
        pytest.param(Stream((), CUT), Later, id="cut"),
    ],
)
def test_whatever_the_server_answers_is_a_value_and_one_request(
    server: ScriptedServer, writer: Writer, name: str, step: Step, kind: type
) -> None:
    call, _, path, *_ = CALLS[name]
    server.script(path, step)
    outcome = call(writer)
    assert type(outcome) is kind
    assert len(server.seen) == 1
    if isinstance(outcome, Later):
        assert outcome.seconds == (3.0 if "answered 429" in outcome.why else 1.0)


def test_a_test_that_does_not_hold_is_a_conflict_and_an_invalid_pod_is_refused(
    server: ScriptedServer, writer: Writer
) -> None:
    causes = {"causes": [{"field": "spec", "reason": "FieldValueForbidden", "message": "no"}]}
    invalid = Answer(422, json.dumps(status(422, details=causes)).encode())
    server.script(PATH, refusal(422), invalid)
    assert isinstance(writer.patch_pod(POD, UNGATE), Conflict)
    assert isinstance(writer.patch_pod(POD, UNGATE), Refused)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(refusal(500), id="500"),
        pytest.param(refusal(503), id="503"),
        pytest.param(refusal(429), id="429"),
        pytest.param(refusal(401), id="401"),
        pytest.param(Stream((b"{",), CUT), id="cut"),
    ],
)
def test_a_loop_that_fails_asks_ever_more_slowly_however_many_want_to_write(
    server: ScriptedServer, clock: FakeClock, writer: Writer, step: Step
) -> None:
    many = [Ref("team", f"web-{n}", f"uid-{n}") for n in range(50)]
    server.brain = lambda _: step
    for _ in range(1200):  # two minutes in which all of them try ten times a second
        for pod in many:
            assert isinstance(writer.delete_pod(pod), Later)
        clock.advance(0.1)
    times = [one.at for one in server.seen]
    assert_paced(times, 8)
    assert len(times) < 15
    server.brain = lambda _: WELL
    clock.advance(15.0)
    assert {type(writer.delete_pod(pod)) for pod in many} == {Done}


def test_who_comes_back_when_told_is_not_sent_away_again(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(429, Retry_After="20"), refusal(500), WELL)
    waits = []
    while isinstance(outcome := writer.delete_pod(POD), Later):
        waits.append(outcome.seconds)
        clock.advance(outcome.seconds)
    assert waits == [20.0, 1.0]
    assert len(server.seen) == 3


def test_one_object_that_fails_does_not_hold_up_the_others_for_long(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    bad = Ref("team", "bad", "uid-bad")
    server.brain = lambda seen: refusal(500) if seen.path.endswith("bad") else WELL
    for _ in range(20):
        assert isinstance(writer.delete_pod(bad), Later)
        clock.advance(0.5)
        assert isinstance(writer.delete_pod(POD), Done)
    assert_paced([one.at for one in server.seen if one.path.endswith("bad")], 20)


def test_a_pod_that_was_deleted_though_the_answer_was_lost_is_not_deleted_twice(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    gone: list[str] = []

    def brain(seen: Any) -> Step:  # noqa: ANN401  a Seen
        uid = json.loads(seen.body)["preconditions"]["uid"]
        if gone:
            return refusal(404 if gone == [uid] else 409)
        gone.append(uid)
        return Stream((), CUT)

    server.brain = brain
    assert isinstance(writer.delete_pod(POD), Later)
    clock.advance(1.0)
    assert isinstance(writer.delete_pod(POD), Gone)
    assert gone == ["uid-1"]


def test_a_burst_of_forty_goes_at_once_and_then_twenty_a_second(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.brain = lambda _: WELL
    for _ in range(60):
        writer.delete_pod(POD)
    assert clock.waits == pytest.approx([0.05] * 20)
    assert len(server.seen) == 60


def test_many_threads_keep_the_limit_together(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    server.brain = lambda _: WELL
    client = client_of(server)
    writer = Writer(client, stop, bucket=Bucket(10.0, 5), clock=clock)
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.extend(writer.delete_pod(POD) for _ in range(10)))
        for _ in range(4)
    ]
    started = clock.now()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert outcomes == [Done("uid-1", "8")] * 40
    assert clock.now() - started >= (40 - 5) / 10.0 - 1e-6
    client.close()


def test_who_waits_for_its_turn_is_let_go_by_the_stop(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client = client_of(server)
    writer = Writer(client, stop, bucket=Bucket(1.0, 1), clock=clock)
    server.script(PATH, WELL)
    writer.delete_pod(POD)
    stop.set()
    outcome = writer.delete_pod(POD)
    assert isinstance(outcome, Later)
    assert "stopping" in outcome.why
    assert len(server.seen) == 1
    client.close()


def test_nothing_is_sent_by_who_does_not_lead(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client, leads = client_of(server), [True]
    writer = Writer(client, stop, allowed=lambda: leads[0], clock=clock)
    server.script(PATH, WELL, WELL)
    assert isinstance(writer.delete_pod(POD), Done)
    leads[0] = False
    outcome = writer.delete_pod(POD)
    assert isinstance(outcome, Later)
    assert "not the leader" in outcome.why
    assert len(server.seen) == 1
    client.close()


def test_one_alone_tries_while_its_answer_is_waited_for(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(500))
    writer.delete_pod(POD)
    clock.advance(1.0)
    asked, answer, outcomes = threading.Event(), threading.Event(), []

    def slow(_: object) -> Step:
        asked.set()
        answer.wait(PATIENCE_S)
        return WELL

    server.brain = slow
    trying = threading.Thread(target=lambda: outcomes.append(writer.delete_pod(POD)))
    trying.start()
    assert asked.wait(PATIENCE_S)
    assert isinstance(writer.delete_pod(POD), Later)
    answer.set()
    trying.join(PATIENCE_S)
    assert outcomes == [Done("uid-1", "8")]
    assert isinstance(writer.delete_pod(POD), Done)
    assert len(server.seen) == 3


def test_a_mistake_of_ours_is_raised_and_does_not_keep_the_others_waiting(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(500), WELL)
    writer.delete_pod(POD)
    clock.advance(1.0)  # the mistake comes in the one try
    with pytest.raises(TypeError):
        writer.patch_pod(POD, [{"op": "add", "path": "/x", "value": object()}])
    clock.advance(5.0)
    assert isinstance(writer.delete_pod(POD), Done)


def test_silence_is_later(server: ScriptedServer, clock: FakeClock, stop: threading.Event) -> None:
    client = client_of(server)
    writer = Writer(client, stop, clock=clock, read_timeout_s=0.1)
    server.script(PATH, Mute(), WELL)
    assert isinstance(writer.delete_pod(POD), Later)
    clock.advance(5.0)
    assert isinstance(writer.delete_pod(POD), Done)
    client.close()


def test_a_read_takes_no_turn_of_a_write_but_leaves_a_failing_server_alone(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client = client_of(server)
    writer = Writer(client, stop, clock=clock, bucket=Bucket(0.001, 1), random=lambda: 0.0)
    server.script(PATH, *[WELL] * 5, refusal(503), WELL)
    assert [writer.read(PATH) for _ in range(5)] == [WELL.body] * 5
    assert clock.waits == []
    assert isinstance(writer.read(PATH), Later)
    assert isinstance(writer.read(PATH), Later)
    assert isinstance(writer.delete_pod(POD), Later)
    assert len(server.seen) == 6
    clock.advance(1.0)
    assert writer.read(PATH) == WELL.body
    client.close()


@pytest.mark.parametrize(("code", "kind"), [(404, Gone), (403, Refused), (429, Later)])
def test_what_cannot_be_read_is_a_value(
    server: ScriptedServer, writer: Writer, code: int, kind: type
) -> None:
    server.script(PATH, refusal(code))
    assert type(writer.read(PATH)) is kind
