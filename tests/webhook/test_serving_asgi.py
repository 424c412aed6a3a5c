"""The bare admission path, driven with messages instead of sockets."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from webhook.asgi import Admission, Limits, Message, Receive, Scope, Send

GONE = {"type": "http.disconnect"}


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def http(method: str = "POST", path: str = "/mutate", **headers: str) -> Scope:
    named = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return {"type": "http", "method": method, "path": path, "headers": named}


def echo(body: bytes) -> tuple[int, bytes]:
    return (200, body) if body else (400, b"{}")


async def flask(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "fallback"})


class Exchange:
    """One request: what the client sends, in parts, and what it got."""

    def __init__(self, *messages: Message) -> None:
        self.to_come = list(messages)
        self.sent: list[Message] = []
        self.stalled = asyncio.Event()

    async def receive(self) -> Message:
        """Hand over the next part, or wait for ever: the client stalls."""
        if not self.to_come:
            self.stalled.set()
            await asyncio.get_running_loop().create_future()
        return self.to_come.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def run(self, app: Admission, scope: Scope) -> "Exchange":
        asyncio.run(app(scope, self.receive, self.send))
        return self

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        assert len(self.sent) == 2, self.sent
        return bytes(self.sent[1]["body"])


@pytest.mark.parametrize(
    ("messages", "want"),
    [
        pytest.param([part(b"{}")], (200, b"{}"), id="a complete body is answered"),
        pytest.param(
            [part(b"a", more=True), part(b"", more=True), part(b"b")],
            (200, b"ab"),
            id="a body in parts is put together",
        ),
        pytest.param(
            [part(b"a", more=True), part(b"")], (200, b"a"), id="the last part may be empty"
        ),
        pytest.param([part(b"")], (400, b"{}"), id="an empty body is the answer's to refuse"),
        pytest.param([{"type": "http.request"}], (400, b"{}"), id="ASGI's defaults: empty, last"),
    ],
)
def test_post_is_answered(messages: list[Message], want: tuple[int, bytes]) -> None:
    exchange = Exchange(*messages).run(Admission(echo, flask), http())
    assert (exchange.status, exchange.body) == want
    assert exchange.headers == {
        b"content-type": b"application/json",
        b"content-length": b"%d" % len(want[1]),
    }


CAP = Limits(body_bytes=10)


@pytest.mark.parametrize(
    ("scope", "messages"),
    [
        pytest.param(http(), [part(b"x" * 11)], id="one part over the cap"),
        pytest.param(
            http(),
            [part(b"x" * 6, more=True), part(b"x" * 6, more=True), part(b"x" * 6)],
            id="chunked: the parts are counted",
        ),
        pytest.param(
            http(), [part(b"x" * 6, more=True), part(b"x" * 6)], id="the last part goes over it"
        ),
        pytest.param(
            http(content_length="11"), [part(b"x", more=True), GONE], id="announced over the cap"
        ),
    ],
)
def test_too_large_is_413(scope: Scope, messages: list[Message]) -> None:
    refused: list[int] = []
    exchange = Exchange(*messages).run(Admission(echo, flask, CAP, refused.append), scope)
    assert exchange.status == 413
    assert b"10 bytes" in exchange.body
    assert refused == [413]
    assert not exchange.to_come, "the client would not see the answer if the rest stayed unread"


def test_exactly_the_cap_is_answered() -> None:
    app = Admission(echo, flask, CAP)
    assert Exchange(part(b"x" * 10)).run(app, http(content_length="10")).status == 200
    assert Exchange(part(b"x" * 5, more=True), part(b"x" * 5)).run(app, http()).status == 200


def test_an_unread_request_is_told_that_the_connection_ends() -> None:
    unread = Exchange(part(b"x" * 11, more=True), GONE).run(Admission(echo, flask, CAP), http())
    assert unread.headers[b"connection"] == b"close"
    for parts in ([part(b"x" * 11)], [part(b"x", more=True), part(b"x" * 10)]):
        read = Exchange(*parts).run(Admission(echo, flask, CAP), http())
        assert b"connection" not in read.headers


@pytest.mark.parametrize(
    "messages", [[GONE], [part(b"x", more=True), GONE]], ids=["at once", "mid-body"]
)
def test_a_client_that_disconnects_just_ends(messages: list[Message]) -> None:
    assert Exchange(*messages).run(Admission(echo, flask), http()).sent == []


async def beside_stalled(
    app: Admission, stalled: list[Exchange], then: Callable[[], Awaitable[None]]
) -> None:
    """Run `then` while the given requests wait for more of their bodies."""
    tasks = [asyncio.create_task(app(http(), s.receive, s.send)) for s in stalled]
    for exchange in stalled:
        await exchange.stalled.wait()
    await then()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(Limits(reading_requests=2), id="too many unfinished requests"),
        pytest.param(Limits(reading_bytes=10), id="too many bytes of unfinished requests"),
    ],
)
def test_overload_is_429_and_complete_requests_are_still_answered(limits: Limits) -> None:
    app = Admission(echo, flask, limits)

    async def scenario() -> None:
        stalled = [Exchange(part(b"12345", more=True)) for _ in range(2)]

        async def meanwhile() -> None:
            late = Exchange(part(b"x", more=True), part(b"y"))
            await app(http(), late.receive, late.send)
            assert late.status == 429
            assert late.headers[b"retry-after"] == b"1"
            assert not late.to_come
            whole = Exchange(part(b"whole"))
            await app(http(), whole.receive, whole.send)
            assert (whole.status, whole.body) == (200, b"whole")

        await beside_stalled(app, stalled, meanwhile)
        # The stalled ones are gone, so is their share of the limits.
        after = Exchange(part(b"x", more=True), part(b"y"))
        await app(http(), after.receive, after.send)
        assert after.body == b"xy"

    asyncio.run(scenario())


def test_a_body_that_takes_too_long_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.asgi.LINGER_SECONDS", 0)
    limits = Limits(body_seconds=0.01)
    exchange = Exchange(part(b"x", more=True)).run(Admission(echo, flask, limits), http())
    assert exchange.status == 408
    assert exchange.headers[b"connection"] == b"close"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_on_mutate_are_405(method: str) -> None:
    exchange = Exchange().run(Admission(echo, flask), http(method))
    assert exchange.status == 405
    assert exchange.headers[b"allow"] == b"POST"


def test_other_paths_go_to_the_fallback() -> None:
    assert Exchange().run(Admission(echo, flask), http("GET", "/readyz")).sent == [
        {"type": "fallback"}
    ]


@pytest.mark.parametrize(
    ("scope", "want"),
    [
        (http("POST", "/elsewhere", content_length="5"), 405),
        (http("POST", "/mutate/", content_length="5"), 405),
        (http("GET", "/healthz", content_length="5"), 413),
        (http("GET", "/healthz", transfer_encoding="chunked"), 413),
    ],
)
def test_no_body_reaches_the_fallback(scope: Scope, want: int) -> None:
    exchange = Exchange(part(b"12345")).run(Admission(echo, flask), scope)
    assert exchange.status == want
    assert not exchange.to_come


def test_lifespan_is_completed() -> None:
    exchange = Exchange({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    exchange.run(Admission(echo, flask), {"type": "lifespan"})
    assert [m["type"] for m in exchange.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_websockets_are_turned_away() -> None:
    exchange = Exchange({"type": "websocket.connect"})
    exchange.run(Admission(echo, flask), {"type": "websocket", "path": "/mutate"})
    assert [m["type"] for m in exchange.sent] == ["websocket.close"]


def test_an_unknown_scope_is_an_error() -> None:
    scope: dict[str, Any] = {"type": "carrier-pigeon"}
    with pytest.raises(ValueError, match="carrier-pigeon"):
        Exchange().run(Admission(echo, flask), scope)
