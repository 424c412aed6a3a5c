"""Writes on the wire: what is sent, and what comes of it."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from wire.scripted import CUT, Answer, Mute, ScriptedServer, Stream, refusal, status
from wire.support import FakeClock, client_of
from wire.writing import PATH, POD, UNGATE, WELL

from evencore.kube.client import connect
from evencore.kube.events import About, Event
from evencore.kube.writer import NAME, Conflict, Done, Gone, Later, Ref, Refused, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire.scripted import Step

    from evencore.kube.outcome import Outcome

NODE = Ref("", "n1", "uid-n1")
EVENTS = "/api/v1/namespaces/team/events"
NOW = datetime(2026, 11, 30, 10, 42, tzinfo=UTC)
EVENT = Event("web-1.17", About("v1", "Pod", *POD[:3]), "PodHeld", "held", NOW, NOW)


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


def test_silence_is_later(server: ScriptedServer, clock: FakeClock, stop: threading.Event) -> None:
    client = client_of(server)
    writer = Writer(client, stop, clock=clock, read_timeout_s=0.1)
    server.script(PATH, Mute(), WELL)
    assert isinstance(writer.delete_pod(POD), Later)
    clock.advance(5.0)
    assert isinstance(writer.delete_pod(POD), Done)
    client.close()


@pytest.mark.parametrize(("code", "kind"), [(404, Gone), (403, Refused), (429, Later)])
def test_what_cannot_be_read_is_a_value(
    server: ScriptedServer, writer: Writer, code: int, kind: type
) -> None:
    server.script(PATH, refusal(code))
    assert type(writer.read(PATH)) is kind
