"""The Flask app through its own test client, and behind the admission path."""

import asyncio
import io
import threading
from typing import Any

import pytest
from flask import Flask

from webhook.app import create_app
from webhook.application import Dependencies, Later, create_asgi
from webhook.asgi import Admission, Application, Limits, Message, Receive, Scope, Send


def echo(body: bytes) -> tuple[int, bytes]:
    return (200, body) if body else (400, b"{}")


def no_reasons() -> list[str]:
    return []


def two_reasons() -> list[str]:
    return ["nodes: not listed yet", "pods: watch is 40 s behind"]


def broken() -> list[str]:
    raise RuntimeError("secret detail")


def app(**changes: Any) -> Flask:  # noqa: ANN401 - any field of Dependencies
    given: dict[str, Any] = {
        "answer": echo,
        "readiness": no_reasons,
        "metrics": lambda: (b"up 1\n", "text/plain; version=0.0.4"),
        **changes,
    }
    return create_app(Dependencies(**given))


def test_healthz_depends_on_nothing() -> None:
    answer = app(readiness=broken).test_client().get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


def test_readyz_says_ok() -> None:
    answer = app().test_client().get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


def test_readyz_gives_one_reason_per_line() -> None:
    answer = app(readiness=two_reasons).test_client().get("/readyz")
    assert answer.status_code == 503
    assert answer.text.splitlines() == two_reasons()
    assert answer.content_type == "text/plain; charset=utf-8"


def test_metrics_come_with_their_content_type() -> None:
    answer = app().test_client().get("/metrics")
    assert (answer.data, answer.content_type) == (b"up 1\n", "text/plain; version=0.0.4")


@pytest.mark.parametrize(("body", "status"), [(b'{"a":1}', 200), (b"", 400)])
def test_mutate_gives_the_same_answer_as_the_bare_path(body: bytes, status: int) -> None:
    answer = app().test_client().post("/mutate?timeout=10s", data=body)
    assert (answer.status_code, answer.data) == (status, body or b"{}")
    assert answer.content_type == "application/json"


@pytest.mark.parametrize("announced", [True, False])
def test_mutate_has_the_same_cap(announced: bool) -> None:  # noqa: FBT001 - a parameter of the table
    kind: dict[str, Any] = (
        {"data": b"x" * 11}
        if announced
        else {
            "input_stream": io.BytesIO(b"x" * 11),
            "environ_overrides": {"wsgi.input_terminated": True},
        }
    )
    client = app(limits=Limits(body_bytes=10)).test_client()
    assert client.post("/mutate", **kind).status_code == 413
    assert client.post("/mutate", data=b"x" * 10).status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
def test_other_methods_on_mutate_are_405(method: str) -> None:
    answer = app().test_client().open("/mutate", method=method)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize("path", ["/", "/nope", "/mutate/", "/static/x", "/..", "/%00"])
def test_other_paths_are_a_short_404(path: str) -> None:
    answer = app().test_client().get(path)
    assert (answer.status_code, answer.text) == (404, "404: Not Found\n")


def test_a_bug_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    answer = app(readiness=broken).test_client().get("/readyz")
    assert answer.status_code == 500
    assert answer.text.startswith("500: ")
    assert "secret" not in answer.text
    assert "GET /readyz failed" in caplog.text
    assert "secret detail" in caplog.text


async def ask(application: Application, method: str = "GET", path: str = "/readyz") -> Message:
    """Send one request; returns what was sent back, with the body as one piece."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}" if method == "POST" else b""}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    await application(scope, receive, send)
    return {**sent[0], "body": b"".join(m["body"] for m in sent[1:] if "body" in m)}


def test_behind_the_admission_path_flask_serves_the_rest() -> None:
    dependencies = Dependencies(
        answer=echo, readiness=two_reasons, metrics=lambda: (b"", "text/plain")
    )
    answer = asyncio.run(ask(create_asgi(dependencies)))
    assert answer["status"] == 503
    assert answer["body"].decode().splitlines() == two_reasons()


class Slow:
    """Makes an application as soon as it is let; counts how often it was asked to."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.asked = 0

    def __call__(self) -> Application:
        self.asked += 1
        assert self.let.wait(10)
        return hello


async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b"hello"})


def test_admissions_are_answered_while_the_rest_is_made() -> None:
    async def scenario() -> None:
        slow = Slow()
        admission = Admission(echo, Later(slow))
        probe = asyncio.create_task(ask(admission))
        answer = await ask(admission, "POST", "/mutate")
        assert (answer["status"], answer["body"], probe.done()) == (200, b"{}", False)
        slow.let.set()
        assert (await probe)["body"] == b"hello"

    asyncio.run(scenario())


def test_requests_that_come_meanwhile_wait_for_the_same_one_even_if_the_first_has_left() -> None:
    async def scenario() -> None:
        slow = Slow()
        later = Later(slow)
        first, *others = (asyncio.create_task(ask(later)) for _ in range(3))
        await asyncio.sleep(0)  # all of them have begun to wait
        first.cancel()
        slow.let.set()
        assert [answer["body"] for answer in await asyncio.gather(*others)] == [b"hello"] * 2
        assert (first.cancelled(), slow.asked) == (True, 1)

    asyncio.run(scenario())


def test_each_request_hears_why_the_rest_cannot_be_made() -> None:
    def missing() -> Application:
        raise ImportError("No module named 'flask'")

    async def scenario() -> None:
        later = Later(missing)
        for _ in range(2):
            with pytest.raises(ImportError, match="flask"):
                await ask(later)

    asyncio.run(scenario())
