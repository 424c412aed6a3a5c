"""What an error says, and what it must not say."""

from __future__ import annotations

import json
import socket
import ssl

import pytest
import urllib3.exceptions as u3

from evencore.kube import errors
from evencore.kube.errors import Call, from_answer, from_exception

CALL = Call("GET", "/api/v1/nodes", "https://api:6443")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.Invalid),
        (401, errors.Unauthorized),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (422, errors.Invalid),
        (429, errors.Throttled),
        (500, errors.Unavailable),
        (503, errors.Unavailable),
        (302, errors.Unavailable),
    ],
)
def test_each_status_has_its_kind_and_says_what_to_whom_and_what_to_do(
    status: int, kind: type[errors.KubeError]
) -> None:
    body = json.dumps({"kind": "Status", "code": status, "message": "nodes is odd"}).encode()
    error = from_answer(CALL, status, body, {})
    assert type(error) is kind
    assert error.status == status
    assert str(error) == (
        f"GET /api/v1/nodes at https://api:6443 was answered {status}: nodes is odd: {kind.advice}"
    )


@pytest.mark.parametrize(
    ("header", "body", "want"),
    [
        pytest.param({"Retry-After": "7"}, {}, 7.0, id="a header"),
        pytest.param({}, {"details": {"retryAfterSeconds": 3}}, 3.0, id="in the Status"),
        pytest.param({"Retry-After": "7"}, {"details": {"retryAfterSeconds": 3}}, 7.0, id="both"),
        pytest.param({"Retry-After": "soon"}, {}, None, id="nonsense"),
        pytest.param({"Retry-After": "-1"}, {}, None, id="negative"),
        pytest.param({}, {"details": None}, None, id="nothing"),
    ],
)
def test_how_long_to_wait_is_read_from_header_and_body(
    header: dict[str, str], body: dict[str, object], want: float | None
) -> None:
    error = from_answer(CALL, 429, json.dumps(body).encode(), header)
    assert isinstance(error, errors.Throttled)
    assert error.retry_after == want


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(json.dumps({"message": "x " * 100_000}).encode(), id="a huge message"),
        pytest.param(b"<html>\n\x00\x1b[31m" + b"y" * 100_000, id="a huge page"),
        pytest.param(b"\xff\xfe\xfd" * 1000, id="no text"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"message": 5}', id="a message that is none"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"details":' * 5_000, id="a hole without a floor"),
    ],
)
def test_whatever_the_body_is_the_text_is_one_short_clean_line(body: bytes) -> None:
    text = str(from_answer(CALL, 500, body, {}))
    assert len(text) < 400
    assert text.isprintable()


class _Pool:
    def __str__(self) -> str:
        return "pool"


@pytest.mark.parametrize(
    ("original", "kind", "says"),
    [
        pytest.param(
            u3.ReadTimeoutError(_Pool(), None, "x"), errors.Silent, "no bytes", id="silence"
        ),
        pytest.param(
            u3.ConnectTimeoutError(_Pool(), "x"), errors.Unavailable, "no connection", id="connect"
        ),
        pytest.param(
            u3.NewConnectionError(_Pool(), "Connection refused"),
            errors.Unavailable,
            "Connection refused",
            id="refused",
        ),
        pytest.param(u3.ProtocolError("cut"), errors.Unavailable, "cut", id="cut"),
        pytest.param(ConnectionResetError("reset"), errors.Unavailable, "reset", id="reset"),
        pytest.param(socket.gaierror(-2, "no such"), errors.Unavailable, "no such", id="name"),
        pytest.param(OSError(), errors.Unavailable, "OSError", id="without a text"),
        pytest.param(
            u3.SSLError(ssl.SSLCertVerificationError(1, "verify failed")),
            errors.Unavailable,
            "SSLError verify failed: check the certificate authority",
            id="TLS",
        ),
    ],
)
def test_a_broken_connection_says_how_it_broke(
    original: Exception, kind: type[errors.KubeError], says: str
) -> None:
    error = from_exception(CALL, original)
    assert type(error) is kind
    assert says in str(error)
    assert str(error).startswith("GET /api/v1/nodes at https://api:6443 failed: ")
    assert error.status is None


def test_a_header_that_cannot_be_sent_is_not_quoted_for_it_may_be_the_token() -> None:
    error = from_exception(CALL, ValueError("Invalid header value b'Bearer s3cret\\n'"))
    assert "s3cret" not in str(error)
