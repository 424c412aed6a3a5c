"""A head that is known is not read again: the same answers as before, however the bytes come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from certificates import HOST
from clients import Client
from servers import DEADLINE, Running, serve

from webhook.connection import LARGEST_SHORT_BODY
from webhook.heads import LONGEST_HEAD, MOST_HEADS, Head, Heads, head_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator


def head(length: object, *lines: str, name: str = "Content-Length") -> bytes:
    """Return a head as an API server sends it."""
    first = ("POST /mutate?timeout=10s HTTP/1.1", f"Host: {HOST}", *lines)
    return "\r\n".join([*first, f"{name}: {length}", "Accept: */*", "", ""]).encode()


HEADS = {
    "a length and nothing yet": (head(9), 9),
    "a length and a body": (head(9) + b"123456789", 9),
    "nothing to come": (head(0), 0),
    "no end yet": (head(9)[:-1], None),
    "no length": (b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", None),
    "a length with a sign": (head("+9"), None),
    "a length in another base": (head("0x9"), None),
    "a length with a space behind": (head("9 "), None),
    "a length of other digits": (head("٩"), None),
    "a length of very many digits": (head("9" * 10), None),
    "a length in small letters": (head(9, name="content-length"), None),
    "a head that is too long": (head(9, f"X: {'x' * LONGEST_HEAD}"), None),
}


@pytest.mark.parametrize(("data", "body"), HEADS.values(), ids=HEADS)
def test_only_plain_heads_are_taken_apart(data: bytes, body: int | None) -> None:
    found = head_of(data)
    assert (found and found.body) == body


def test_a_head_is_known_whatever_its_length_and_no_other_is() -> None:
    def of(data: bytes) -> Head:
        found = head_of(data)
        assert found is not None
        return found

    heads = Heads()
    heads.learn(of(head(9)))
    assert of(head(1234)) in heads
    assert of(head(9, "Connection: close")) not in heads
    assert of(head(9, "Content-Length: 9")) not in heads


def test_no_more_heads_are_kept_than_anybody_needs() -> None:
    heads = Heads()
    made = [Head((b"%d" % number, b""), 1, 1) for number in range(MOST_HEADS + 1)]
    for each in made:
        heads.learn(each)
    assert [each for each in made if each in heads] == made[-1:]


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server that answers with the length of the body."""
    with serve(tmp_path_factory.mktemp("counting"), answer="stub_server:length") as running:
        yield running


def run(server: Running, scenario: Callable[[Client, Client], Awaitable[None]]) -> None:
    """Run a scenario that gets two connections whose head is known."""

    async def bounded() -> None:
        context = server.client_context()
        async with asyncio.timeout(DEADLINE):
            clients = [await Client.dial(server.port, context) for _ in range(2)]
            for client in clients:
                for _ in range(2):
                    client.writer.write(head(1) + b"x")
                    assert (await client.receive()).body == b"1"
            await scenario(*clients)
            for client in clients:
                await client.close()

    asyncio.run(bounded())


REQUEST = head(9) + b"123456789"
CUTS = {
    "after the first byte": [1],
    "within the head": [40],
    "within the empty line": [len(head(9)) - 1],
    "between head and body": [len(head(9))],
    "within the body": [len(REQUEST) - 1],
    "in four parts": [10, len(head(9)), len(head(9)) + 3],
}


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_a_call_that_comes_in_parts_is_answered(counting: Running, cuts: list[int]) -> None:
    async def scenario(client: Client, other: Client) -> None:
        for begin, end in zip([0, *cuts], [*cuts, len(REQUEST)], strict=True):
            client.writer.write(REQUEST[begin:end])
            await client.writer.drain()
            other.writer.write(head(1) + b"x")
            assert (await other.receive()).body == b"1"  # the part has been read by now
        assert (await client.receive()).body == b"9"
        client.writer.write(REQUEST)
        assert (await client.receive()).body == b"9"

    run(counting, scenario)


SENT = {
    "two calls at once": (REQUEST + head(3) + b"123", [b"9", b"3"]),
    "a call and the beginning of another": (REQUEST + head(3), [b"9"]),
    "as large as the short way takes": (
        head(LARGEST_SHORT_BODY) + b"x" * LARGEST_SHORT_BODY,
        [b"%d" % LARGEST_SHORT_BODY],
    ),
    "larger": (
        head(LARGEST_SHORT_BODY + 1) + b"x" * (LARGEST_SHORT_BODY + 1),
        [b"%d" % (LARGEST_SHORT_BODY + 1)],
    ),
    "another head between": (head(2, "X: y") + b"12" + REQUEST, [b"2", b"9"]),
}


@pytest.mark.parametrize(("data", "answers"), SENT.values(), ids=SENT)
def test_whatever_is_sent_is_answered_in_order(
    counting: Running, data: bytes, answers: list[bytes]
) -> None:
    async def scenario(client: Client, _: Client) -> None:
        client.writer.write(data)
        assert [(await client.receive()).body for _ in answers] == answers

    run(counting, scenario)


def test_the_limits_hold_for_a_body_that_stalls_behind_a_known_head(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def scenario(client: Client, other: Client) -> None:
        client.writer.write(REQUEST[:-1])
        assert (await client.receive()).status == 408
        other.writer.write(REQUEST)
        assert (await other.receive()).body == b"9"

    directory = tmp_path_factory.mktemp("stalling")
    with serve(directory, answer="stub_server:length", body_seconds=0.3) as server:
        run(server, scenario)


def test_a_known_head_with_another_wish_is_heeded(counting: Running) -> None:
    async def scenario(client: Client, _: Client) -> None:
        client.writer.write(head(9, "Connection: close") + b"123456789")
        reply = await client.receive()
        assert (reply.body, reply.closes) == (b"9", True)
        assert await client.reader.read() == b""

    run(counting, scenario)


def test_a_wrong_length_in_a_known_head_is_refused(counting: Running) -> None:
    async def scenario(client: Client, other: Client) -> None:
        client.writer.write(head("+9") + b"123456789")
        assert (await client.receive()).status == 400
        other.writer.write(REQUEST)
        assert (await other.receive()).body == b"9"

    run(counting, scenario)


def test_an_idle_connection_on_the_short_way_is_closed_after_keepalive(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def scenario(client: Client, other: Client) -> None:
        assert await client.reader.read() == b""
        assert await other.reader.read() == b""

    with serve(
        tmp_path_factory.mktemp("keepalive"), answer="stub_server:length", keepalive=1
    ) as server:
        run(server, scenario)


WAYS = {
    "the first with this head": (REQUEST, b"long"),
    "the next one": (REQUEST, b"short"),
    "one of another length": (head(4) + b"1234", b"short"),
    "one with another head": (head(9, "X: y") + b"123456789", b"long"),
    "one with a length in small letters": (head(4, name="content-length") + b"1234", b"long"),
    "that again, for its length is not found": (
        head(4, name="content-length") + b"1234",
        b"long",
    ),
    "the largest": (head(LARGEST_SHORT_BODY) + b"x" * LARGEST_SHORT_BODY, b"short"),
}


def test_the_short_way_is_taken_by_calls_whose_head_is_known(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(DEADLINE):
            client = await Client.dial(server.port, server.client_context())
            for sentence, (data, came) in WAYS.items():
                client.writer.write(data)
                assert (await client.receive()).body == came, sentence
            await client.close()

    with serve(tmp_path_factory.mktemp("ways"), answer="stub_server:way") as server:
        asyncio.run(scenario())
