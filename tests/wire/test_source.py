"""Several kinds at once: complete or not, versions, views, and a quick stop."""

from __future__ import annotations

import logging
import sys
import threading
import time
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from wire.scripted import (
    PATIENCE_S,
    Mute,
    ScriptedServer,
    Stream,
    a_list,
    event,
    refusal,
    thing,
)
from wire.support import FakeClock, Metadata, Thing, client_of

from evencore.kube.source import (
    FAILED_PODS,
    LIMIT_RANGES,
    NAMESPACES,
    NODES,
    ClusterSource,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evencore.kube.resource import Resource

KINDS = {
    "nodes": Kind(NODES, Thing),
    "namespaces": Kind(NAMESPACES, Thing),
    "limitranges": Kind(LIMIT_RANGES, Thing),
    "failed pods": Kind(FAILED_PODS, Thing),
}


class Told:
    """A listener that remembers, and can be waited for."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str, Any, Any]] = []
        self._condition = threading.Condition()

    def __call__(self, name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  any Struct
        with self._condition:
            self.changes.append((name, key, before, after))
            self._condition.notify_all()

    def wait(self, count: int) -> None:
        with self._condition:
            done = self._condition.wait_for(lambda: len(self.changes) >= count, PATIENCE_S)
        assert done, f"{count} changes expected, these came: {self.changes}"


@contextmanager
def _running(
    server: ScriptedServer, listener: Callable[..., None] | None = None, *, start: bool = True
) -> Iterator[ClusterSource]:
    client = client_of(server)
    source = ClusterSource(client, KINDS, listener, clock=FakeClock(), random=lambda: 0.0)
    try:
        if start:
            source.start()
        yield source
    finally:
        started = time.monotonic()
        source.stop()
        took_s = time.monotonic() - started
    assert took_s < 1.0
    assert not [one for one in threading.enumerate() if one.name.startswith("watch ")]
    client.close()


def _script(server: ScriptedServer, *nodes: object, watch: Stream | None = None) -> None:
    server.script(NODES.path, a_list(nodes, 4), watch or Stream())
    for resource in (NAMESPACES, LIMIT_RANGES, FAILED_PODS):
        server.script(resource.path, a_list([], 4))


def test_four_kinds_are_asked_for_as_metadata_or_by_phase_in_pages_of_a_hundred(
    server: ScriptedServer,
) -> None:
    _script(server)
    with _running(server) as source:
        assert source.wait_synced(PATIENCE_S) == []
        server.wait_seen(8)
    lists = {one.path: one for one in server.seen if not one.watch}
    assert {one.query["limit"] for one in lists.values()} == {"100"}
    assert "PartialObjectMetadataList" in lists[NODES.path].headers["accept"]
    assert "PartialObjectMetadataList" in lists[NAMESPACES.path].headers["accept"]
    assert lists[LIMIT_RANGES.path].headers["accept"] == "application/json"
    assert lists[FAILED_PODS.path].query["fieldSelector"] == "status.phase=Failed"


def test_it_names_what_is_not_complete_yet(server: ScriptedServer) -> None:
    go_on = threading.Event()
    whole = b'{"metadata":{"resourceVersion":"1"},"items":[]}'
    server.script(FAILED_PODS.path, Stream((lambda: go_on.wait(PATIENCE_S), whole), "clean"))
    for resource in (NODES, NAMESPACES, LIMIT_RANGES):
        server.script(resource.path, a_list([]))
    with _running(server) as source:
        server.wait_seen(7)
        assert source.wait_synced(0.05) == ["failed pods"]
        before = source.version
        go_on.set()
        assert source.wait_synced(PATIENCE_S) == []
        server.wait_seen(8)
        assert source.synced() == []
        assert source.version == before + 1  # it became complete, though it has no objects


def test_a_change_can_be_seen_once_it_is_told_and_the_version_has_risen(
    server: ScriptedServer,
) -> None:
    watch = Stream(
        (
            event("MODIFIED", thing("n1", "2", 5)),
            event("ADDED", thing("n2", "1", 6)),
            event("DELETED", thing("n1", "2", 7)),
        )
    )
    _script(server, thing("n1", "1"), watch=watch)
    seen: list[tuple[int, list[str]]] = []
    told = Told()

    def listener(name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  any Struct
        seen.append((source.version, sorted(source.objects("nodes"))))
        told(name, key, before, after)

    with _running(server, listener, start=False) as source:
        source.start()  # here, so that the listener knows it
        told.wait(4)
    assert [keys for _, keys in seen] == [["n1"], ["n1"], ["n1", "n2"], ["n2"]]
    versions = [version for version, _ in seen]
    assert versions == sorted(set(versions))
    payloads = [(b and b.payload, a and a.payload) for _, _, b, a in told.changes]
    assert payloads == [(None, "1"), ("1", "2"), (None, "1"), ("2", None)]


def test_a_heartbeat_that_changes_nothing_we_read_changes_no_version_and_no_view(
    server: ScriptedServer,
) -> None:
    gate = threading.Event()
    beats = tuple(
        event("MODIFIED", {**thing("n1", "1", 5 + n), "status": {"heartbeat": n}})
        for n in range(50)
    )
    last = event("ADDED", thing("n2", "", 99))
    watch = Stream((*beats, lambda: gate.wait(PATIENCE_S), last))
    _script(server, thing("n1", "1"), watch=watch)
    told = Told()
    with _running(server, told) as source:
        assert source.wait_synced(PATIENCE_S) == []
        server.wait_seen(8)
        version, view = source.version, source.objects("nodes")
        gate.set()
        told.wait(2)
        # all heartbeats came before n2, which is the only change
        assert source.version == version + 1
        assert source.stats()["nodes"].events == 51
        assert source.objects("nodes")["n1"] is view["n1"]
    assert [key for _, key, _, _ in told.changes] == ["n1", "n2"]


def test_a_view_does_not_change_while_somebody_reads_it(server: ScriptedServer) -> None:
    gate = threading.Event()
    more = tuple(event("ADDED", thing(f"m{n}", "", 5 + n)) for n in range(20))
    _script(
        server,
        *[thing(f"n{n}") for n in range(10)],
        watch=Stream((lambda: gate.wait(PATIENCE_S), *more)),
    )
    told = Told()
    with _running(server, told) as source:
        told.wait(10)
        names = []
        for name in source.objects("nodes"):
            gate.set()
            told.wait(30)  # everything has come while we are at the first name
            names.append(name)
        assert len(names) == 10
        assert len(source.objects("nodes")) == 30


def test_one_kind_that_may_not_be_read_does_not_hold_up_the_others(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    for resource in (NODES, NAMESPACES, FAILED_PODS):
        server.script(resource.path, a_list([thing("a")], 4))
    server.script(LIMIT_RANGES.path, *[refusal(403, "limitranges is forbidden")] * 3, a_list([]))
    with caplog.at_level(logging.WARNING), _running(server) as source:
        assert source.wait_synced(PATIENCE_S) == []
        assert source.stats()["limitranges"].failures == 3
    assert "limitranges is forbidden" in caplog.text
    assert "grant the missing rule" in caplog.text


def test_a_listener_that_raises_loses_no_object_and_ends_no_watch(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()

    def moody(name: str, key: str, before: Any, after: Any) -> None:  # noqa: ANN401  any Struct
        told(name, key, before, after)
        if key == "n1":
            raise RuntimeError("not in the mood")

    _script(server, thing("n1"), watch=Stream((event("ADDED", thing("n2", "", 5)),)))
    with _running(server, moody) as source:
        told.wait(2)
        assert sorted(source.objects("nodes")) == ["n1", "n2"]
        assert source.stats()["nodes"].lists == 1
    assert "not in the mood" in caplog.text


def test_it_stops_in_time_even_if_a_request_is_never_answered(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(NODES.path, Mute())
    client = client_of(server)
    source = ClusterSource(client, {"nodes": Kind(NODES, Thing)})
    source.start()
    server.wait_seen(1)
    started = time.monotonic()
    with caplog.at_level(logging.INFO):
        source.stop(timeout_s=0.2)
    assert time.monotonic() - started < 1.0
    assert "watch nodes still waits" in caplog.text
    client.close()


def test_a_source_is_started_once_and_knows_its_kinds(server: ScriptedServer) -> None:
    _script(server)
    with _running(server) as source:
        server.wait_seen(8)
        with pytest.raises(RuntimeError, match="started before"):
            source.start()
        with pytest.raises(KeyError):
            source.objects("pods")


def test_lists_are_taken_in_one_after_the_other(server: ScriptedServer) -> None:
    """As threads would take turns many times within a page, if they could."""
    turns: list[str] = []
    for resource in (NODES, NAMESPACES, LIMIT_RANGES):
        server.script(resource.path, a_list([thing(f"t{n}") for n in range(2000)], 4))

    def kind(name: str, resource: Resource) -> Kind:
        return Kind(resource, Thing, keep=lambda it: turns.append(name) or it)

    kinds = {r.path: kind(r.path, r) for r in (NODES, NAMESPACES, LIMIT_RANGES)}
    source = ClusterSource(client := client_of(server), kinds)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        source.start()
        assert source.wait_synced(PATIENCE_S) == []
    finally:
        sys.setswitchinterval(before)
        source.stop()
        client.close()
    assert [len(list(of_one)) for _, of_one in groupby(turns)] == [2000, 2000, 2000]


def test_metadata_alone_will_do(server: ScriptedServer) -> None:
    class Bare(msgspec.Struct, frozen=True, gc=False):
        """Nothing that changes, so that no event is ever a change."""

        metadata: Metadata

    server.script(NODES.path, a_list([thing("n1")], 4), Stream((event("MODIFIED", thing("n1")),)))
    client = client_of(server)
    told = Told()
    source = ClusterSource(client, {"nodes": Kind(NODES, Bare)}, told)
    source.start()
    told.wait(1)
    server.wait_seen(2)
    source.stop()
    assert len(told.changes) == 1
    client.close()


def test_a_change_in_what_is_not_kept_is_no_change(server: ScriptedServer) -> None:
    lines = (event("MODIFIED", thing("n1", "b", 5)), event("MODIFIED", thing("n1", "ccc", 6)))
    server.script(NODES.path, a_list([thing("n1", "a")], 4), Stream(lines))
    client, told = client_of(server), Told()
    kind = Kind(NODES, Thing, keep=lambda it: len(it.payload))
    source = ClusterSource(client, {"nodes": kind}, told, clock=FakeClock())
    source.start()
    told.wait(2)
    source.stop()
    assert told.changes == [("nodes", "n1", None, 1), ("nodes", "n1", 1, 3)]
    client.close()
