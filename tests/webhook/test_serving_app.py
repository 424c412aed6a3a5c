"""The Flask app through its own test client, and behind the admission path."""

import asyncio
import io
from typing import Any

import pytest
from flask import Flask

from webhook.app import Dependencies, create_app, create_asgi
from webhook.asgi import Limits, Message


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


def test_behind_the_admission_path_flask_serves_the_rest() -> None:
    dependencies = Dependencies(
        answer=echo, readiness=two_reasons, metrics=lambda: (b"", "text/plain")
    )
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/readyz",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(create_asgi(dependencies)(scope, receive, send))
    assert sent[0]["status"] == 503
    assert b"".join(m["body"] for m in sent[1:] if "body" in m) == b"\n".join(
        [*(r.encode() for r in two_reasons()), b""]
    )
