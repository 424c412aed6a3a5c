"""The admission path as a bare ASGI callable: one request in, one answer out.

`POST /mutate` meets no framework: its body is read under a cap, answered by a function of bytes
and sent in one piece. Everything else (probes, metrics, wrong paths) goes to the Flask app.

Not for: reviews and patches (webhook.review, webhook.mutate), TLS (webhook.tls), processes and
signals (webhook.worker).
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from msgspec import Struct

# The whole admission: body in, HTTP status and JSON body out. Synchronous, quick (it runs on the
# event loop), and it never raises.
Answer = Callable[[bytes], tuple[int, bytes]]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MUTATE = "/mutate"

# How long a refused request is read on, in seconds, so that its client sees the refusal.
LINGER_SECONDS = 2.0

_JSON = (b"content-type", b"application/json")
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE = (b"connection", b"close")


class Limits(Struct, frozen=True, kw_only=True):
    """How much one process reads at a time. Small complete requests never meet these limits."""

    body_bytes: int = 8 * 1024 * 1024
    """Largest body. The API server takes objects of 3 MiB; a review may hold two of them."""

    reading_bytes: int = 64 * 1024 * 1024
    """All unfinished bodies together. Above it new parts are refused with 429."""

    reading_requests: int = 512
    """Requests whose body is not complete yet. Above it such requests are refused with 429."""

    body_seconds: float = 30.0
    """From the first part of a body to its last. The API server itself waits at most 30 s."""


class _Refusal:
    """A ready-made plain-text answer, with and without the end of the connection."""

    __slots__ = ("_body", "_close", "_keep", "status")

    def __init__(self, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
        body = f"{status}: {text}\n".encode()
        common = (_TEXT, (b"content-length", b"%d" % len(body)), *headers)
        self.status = status
        self._keep = {"type": "http.response.start", "status": status, "headers": common}
        self._close = {**self._keep, "headers": (*common, _CLOSE)}
        self._body = {"type": "http.response.body", "body": body}

    async def send(self, send: Send, *, close: bool) -> None:
        await send(self._close if close else self._keep)
        await send(self._body)


class Admission:
    """ASGI application: `answer` for `POST /mutate`, `fallback` for everything else.

    `refused` is told the HTTP status of every request that was turned away here (for metrics).
    """

    def __init__(
        self,
        answer: Answer,
        fallback: Application,
        limits: Limits | None = None,
        refused: Callable[[int], None] | None = None,
    ) -> None:
        self._answer = answer
        self._fallback = fallback
        self._limits = limits = limits or Limits()
        self._refused = refused
        self._reading = 0  # requests whose body is not complete
        self._held = 0  # bytes of those bodies
        self._not_post = _Refusal(405, f"{MUTATE} takes POST only", (b"allow", b"POST"))
        self._not_get = _Refusal(405, "only GET is served here", (b"allow", b"GET, HEAD"))
        self._no_body = _Refusal(413, "no body is expected here")
        self._too_large = _Refusal(
            413, f"the body is larger than {limits.body_bytes} bytes, the limit of this webhook"
        )
        # The API server repeats a call that got 429 with Retry-After within the webhook's timeout;
        # a dropped connection it does not repeat.
        self._overloaded = _Refusal(
            429, "too many unfinished requests; try again", (b"retry-after", b"1")
        )
        self._too_slow = _Refusal(408, f"the body took longer than {limits.body_seconds:g} seconds")

    def at_once(self, body: bytes) -> tuple[int, bytes] | None:
        """Answer a whole `POST /mutate` without ASGI; None if it has to go the long way."""
        return self._answer(body) if len(body) <= self._limits.body_bytes else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await _other_protocol(scope["type"], receive, send)
        elif scope["path"] != MUTATE:
            await self._other_path(scope, receive, send)
        elif scope["method"] != "POST":
            await self._refuse(self._not_post, receive, send, unread=_has_body(scope))
        else:
            await self._mutate(scope, receive, send)

    async def _mutate(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._reading += 1
        try:
            # gunicorn hands over what it has: nearly always this one message is the whole body,
            # and then nothing below suspends. Hence no timer, no header scan, no list of parts.
            message = await receive()
            if message["type"] != "http.request":
                return  # the client is gone
            body = message.get("body", b"")
            if message.get("more_body", False):
                result, unread = await self._read_on(scope, body, receive)
            else:
                result = body if len(body) <= self._limits.body_bytes else self._too_large
                unread = False
        finally:
            self._reading -= 1
        if isinstance(result, bytes):
            status, answer = self._answer(result)
            length = (b"content-length", b"%d" % len(answer))
            await send(
                {"type": "http.response.start", "status": status, "headers": (_JSON, length)}
            )
            await send({"type": "http.response.body", "body": answer})
        elif result is not None:
            await self._refuse(result, receive, send, unread=unread)

    async def _read_on(
        self, scope: Scope, first: bytes, receive: Receive
    ) -> "tuple[bytes | _Refusal | None, bool]":
        """Read the parts after the first: the whole body, a refusal, or None: client gone.

        Also tells whether parts of the body are still to come.
        """
        limits = self._limits
        if self._reading > limits.reading_requests:
            return self._overloaded, True
        if _content_length(scope) > limits.body_bytes:
            return self._too_large, True
        parts = [first]
        size = len(first)
        self._held += size
        try:
            async with asyncio.timeout(limits.body_seconds):
                more = True
                while more:
                    if size > limits.body_bytes:
                        return self._too_large, True
                    if self._held > limits.reading_bytes:
                        return self._overloaded, True
                    message = await receive()
                    if message["type"] != "http.request":
                        return None, True
                    part = message.get("body", b"")
                    more = message.get("more_body", False)
                    parts.append(part)
                    size += len(part)
                    self._held += len(part)
        except TimeoutError:
            return self._too_slow, True
        finally:
            self._held -= size
        return (b"".join(parts) if size <= limits.body_bytes else self._too_large), False

    async def _other_path(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The WSGI adapter spools bodies to disk without a limit: none may reach it.
        has_body = _has_body(scope)
        if scope["method"] not in {"GET", "HEAD"}:
            await self._refuse(self._not_get, receive, send, unread=has_body)
        elif has_body:
            await self._refuse(self._no_body, receive, send, unread=True)
        else:
            await self._fallback(scope, receive, send)

    async def _refuse(
        self, refusal: _Refusal, receive: Receive, send: Send, *, unread: bool
    ) -> None:
        if self._refused is not None:
            self._refused(refusal.status)
        await refusal.send(send, close=unread)
        if unread:
            await _discard(receive, self._limits.body_bytes)


async def _discard(receive: Receive, limit: int) -> None:
    """Read on, keeping nothing, for at most `limit` bytes and LINGER_SECONDS.

    A socket closed with unread bytes sends a reset, and that can destroy the refusal on its way.
    """
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while limit > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                limit -= len(message.get("body", b""))
    except TimeoutError:
        return


def _content_length(scope: Scope) -> int:
    """Length that the client announced; 0 when it announced none, or no number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _has_body(scope: Scope) -> bool:
    for name, value in scope["headers"]:
        if name == b"transfer-encoding" or (name == b"content-length" and value != b"0"):
            return True
    return False


async def _other_protocol(kind: str, receive: Receive, send: Send) -> None:
    """Answer the scopes beside HTTP: nothing to do at start and stop, no websockets."""
    if kind == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    if kind == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1000})
        return
    raise ValueError(f"unknown ASGI scope {kind!r}: this application speaks http and lifespan")
