"""Bytes of every kind over a real socket to the real webhook: in order, or refused; never confused.

A request that is read otherwise than it was meant could answer one admission with another's answer.
"""

from __future__ import annotations

import contextlib
import json
import socket
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
from builders import pod, review
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import DEADLINE, Running, webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES: Final = Path(__file__).parents[1] / "demo-nodes.yaml"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("webhook")
    with webhook(directory, "--snapshot", str(NODES), "--policy", _policy(directory)) as running:
        yield running


def _policy(directory: Path) -> str:
    path = directory / "policy.yaml"
    path.write_text("cpu: round-up\n")
    return str(path)


def _body(uid: str) -> bytes:
    return json.dumps(review(pod().cpu("3")).with_(uid=uid).obj).encode()


class Sent(NamedTuple):
    """One request as bytes, and whether it is sound: it must be answered with its uid."""

    data: bytes
    uid: str | None  # None: it must not be answered with 200


HEADERS: Final = [
    b"Accept: */*", b"accept:application/json", b"User-Agent: kube-apiserver", b"X-Empty:",
    b"X-Long: " + b"x" * 3000, b"Accept-Encoding: gzip", b"Connection: keep-alive",
    b"X-Tab:\tvalue\t", b"X-High: caf\xe9", b"Content-Type: application/json",
]  # fmt: skip
MALFORMED: Final = {
    "a length and chunks": b"Content-Length: 4\r\nTransfer-Encoding: chunked",
    "chunks and a length": b"Transfer-Encoding: chunked\r\nContent-Length: 4",
    "two lengths": b"Content-Length: 4\r\nContent-Length: 5",
    "a list of lengths": b"Content-Length: 4, 5",
    "a negative length": b"Content-Length: -1",
    "a length with a sign": b"Content-Length: +4",
    "a length with an underscore": b"Content-Length: 1_0",
    "a length of hexadecimal digits": b"Content-Length: 0x10",
    "a length of Arabic digits": "Content-Length: \u0664".encode(),
    "a length of thousands of digits": b"Content-Length: " + b"9" * 5000,
    "a blank before the colon": b"Content-Length : 4",
    "a folded line": b"X-Folded: a\r\n Content-Length: 4",
    "a header without a name": b": x",
    "a header with a NUL": b"X-Nul: a\x00b",
    "a header with a bare carriage return": b"X-Cr: a\rContent-Length: 4",
    "an unknown coding": b"Transfer-Encoding: cow",
    "chunked, twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "chunked, but not last": b"Transfer-Encoding: chunked, identity",
    "chunked behind a vertical tab": b"Transfer-Encoding: \x0bchunked",
    "a head that is too large": b"X-Large: " + b"x" * 200_000,
}
CHUNKS: Final = [
    b"zz\r\nabc\r\n0\r\n\r\n", b"-1\r\n\r\n", b"ffffffffffffffffffff\r\nabc", b"3 \r\nabcd\r\n",
    b"3\r\nabcdef0\r\n\r\n", b"0x3\r\nabc\r\n0\r\n\r\n", b"3;" + b"x" * 200_000, b"\r\n\r\n",
]  # fmt: skip


def _chunked(body: bytes, sizes: list[int], extension: bytes) -> bytes:
    parts, at = [], 0
    for size in sizes:
        part = body[at : at + size]
        at += len(part)
        if part:
            parts.append(b"%x%s\r\n%s\r\n" % (len(part), extension, part))
    rest = body[at:]
    if rest:
        parts.append(b"%X\r\n%s\r\n" % (len(rest), rest))
    return b"".join([*parts, b"0\r\n\r\n"])


@st.composite
def sound(draw: st.DrawFn, number: int) -> Sent:
    """Return a request as some client might write it."""
    uid = f"uid-{number}"
    body = _body(uid)
    path = draw(st.sampled_from([b"/mutate", b"/mutate?timeout=3s", b"/mutat%65"]))
    headers = [b"Host: webhook", *draw(st.lists(st.sampled_from(HEADERS), unique=True, max_size=3))]
    if draw(st.booleans()):
        name = draw(st.sampled_from([b"Content-Length", b"content-length", b"CONTENT-LENGTH"]))
        headers.insert(draw(st.integers(0, len(headers))), b"%s: %d" % (name, len(body)))
        framed = body
    else:
        sizes = draw(st.lists(st.integers(1, 300), max_size=4))
        framed = _chunked(body, sizes, draw(st.sampled_from([b"", b";a=b", b";x"])))
        headers.append(b"Transfer-Encoding: chunked")
    return Sent(b"\r\n".join([b"POST %s HTTP/1.1" % path, *headers, b"", framed]), uid)


_lines = st.sampled_from(sorted(MALFORMED.values()))
malformed = st.one_of(
    _lines.map(lambda line: b"POST /mutate HTTP/1.1\r\nHost: x\r\n" + line + b"\r\n\r\nabcd"),
    st.sampled_from(CHUNKS).map(
        lambda data: b"POST /mutate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + data
    ),
    st.sampled_from(
        [
            b"POST  /mutate HTTP/1.1\r\n\r\n", b"POST /mutate HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\r\n\r\n",
            b"POST /mutate\r\n\r\n", b"P\x00ST /mutate HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\n\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
        ]
    ),
).map(lambda data: Sent(data, None))  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Sent], list[bytes]]:
    """Return requests that come one upon the other, and the pieces in which they come."""
    asked = [draw(sound(number)) for number in range(draw(st.integers(0, 4)))]
    if draw(st.booleans()):
        # What comes behind a request that cannot be read must not be taken for one.
        asked += [draw(malformed), draw(sound(99))]
    stream = b"".join(one.data for one in asked)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=4)))
    edges = [0, *cuts, len(stream)]
    return asked, [stream[a:b] for a, b in pairwise(edges) if b > a]


def _converse(server: Running, pieces: list[bytes]) -> bytes:
    """Send the pieces one by one, say that nothing more comes, and read until the end."""
    received = []
    with (
        socket.create_connection(("127.0.0.1", server.port), DEADLINE) as plain,
        server.client_context().wrap_socket(plain, server_hostname="webhook") as sock,
        contextlib.suppress(OSError),  # it may close before it has read what it refuses
    ):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            sock.sendall(piece)
        sock.sendall(LAST)
        while data := sock.recv(65536):
            received.append(data)
    return b"".join(received)


LAST: Final = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
"""So that the end is known: an answer that closes the connection, however it went before."""


def _answers(stream: bytes) -> list[tuple[int, bytes]]:
    """Split the answers; the server announces the length of each."""
    found = []
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in lines)
        length = int(headers[b"content-length"])
        found.append((int(first.split()[1]), rest[:length]))
        stream = rest[length:]
    return found


def _uid(body: bytes) -> object:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return json.loads(body)["response"]["uid"]
    return None


@settings(max_examples=60)
@given(talk=conversations())
def test_each_request_gets_its_own_answer_and_nothing_behind_a_broken_one_any(
    server: Running, talk: tuple[list[Sent], list[bytes]]
) -> None:
    asked, pieces = talk
    answers = _answers(_converse(server, pieces))
    uids = [_uid(body) for status, body in answers if status == 200 and body != b"ok\n"]
    wanted = [one.uid for one in asked]
    sound_ones = wanted[: wanted.index(None)] if None in wanted else wanted
    assert uids == sound_ones
    if None not in wanted:
        assert answers[-1] == (200, b"ok\n")
    else:
        assert all(400 <= status < 600 for status, _ in answers[len(sound_ones) :])
        assert (200, b"ok\n") not in answers
    assert server.process.poll() is None


@pytest.mark.parametrize("name", MALFORMED)
def test_what_could_be_read_in_two_ways_is_refused_and_ends_the_connection(
    server: Running, name: str
) -> None:
    data = b"POST /mutate HTTP/1.1\r\nHost: x\r\n%s\r\n\r\nabcd" % MALFORMED[name]
    answers = _answers(_converse(server, [data, _REQUEST]))
    assert [status for status, _ in answers if status < 400] == []
    assert "uid-smuggled" not in server.log()


_SMUGGLED = _body("uid-smuggled")
_REQUEST: Final = (
    b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(_SMUGGLED) + _SMUGGLED
)


def test_whatever_was_sent_the_log_is_lines_of_json_without_controls(server: Running) -> None:
    """Run last: it looks at what all the others have left there."""
    odd = _body("uid\x1b[2J\nforged\u202e").replace(b'"app-1"', b'"web\\u009b2J\\u2028"')
    _converse(server, [b"POST /mutate\x1b[2J HTTP/1.1\r\nX-\x1b[2J: \x9b\r\n\r\n"])
    _converse(server, [b"POST /mut\xc2\x9bate HTTP/1.1\r\nHost: \x1b[2J\r\n\r\n"])
    head = b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(odd)
    assert _answers(_converse(server, [head + odd]))[0][0] == 200
    server.wait_for_log("u202e")
    _, page = server.get("/metrics")
    assert all(line.isprintable() and "forged" not in line for line in page.splitlines())
    for line in server.log().splitlines():
        assert json.loads(line)
        assert line.isprintable(), line
