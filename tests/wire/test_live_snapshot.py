"""The live snapshot follows the cluster: nodes, limits and rejections, over the wire."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from builders import failed, limit_range, namespace, node
from wire.scripted import PATIENCE_S, ScriptedServer, Stream, a_list, event
from wire.support import client_of

from evencore.domain.selectors import matches
from evencore.domain.views import PodSpec
from evencore.kube.snapshots import LiveSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from builders import Pod

NODES, NAMESPACES = "/api/v1/nodes", "/api/v1/namespaces"
LIMIT_RANGES, PODS = "/api/v1/limitranges", "/api/v1/pods"


@contextmanager
def _live(server: ScriptedServer) -> Iterator[LiveSnapshot]:
    client = client_of(server)
    live = LiveSnapshot(client)
    live.start()
    try:
        yield live
    finally:
        live.stop()
        client.close()


def _until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.002)


def _versioned(obj: dict, version: int) -> dict:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(version)}}


def _empty(server: ScriptedServer, *but: str) -> None:
    for path in {NODES, NAMESPACES, LIMIT_RANGES, PODS} - set(but):
        server.script(path, a_list([]))


def _rejected(pod: Pod) -> dict:
    return pod.metadata(namespace="apps").obj


def test_it_is_complete_only_when_every_first_list_has_come(server: ScriptedServer) -> None:
    _empty(server, LIMIT_RANGES)
    with _live(server) as live:
        _until(lambda: live.missing() == "waiting for the first list of limitranges")
        server.script(LIMIT_RANGES, a_list([]))
        _until(lambda: live.missing() is None)


def test_nodes_come_change_and_go(server: ScriptedServer) -> None:
    _empty(server, NODES)
    wider = _versioned(node("n1").width(4).obj, 3)
    server.script(NODES, a_list([node("n1").width(2).obj, node("n2").width(2).obj]))
    server.script(
        NODES,
        Stream((
            event("MODIFIED", wider),
            event("DELETED", _versioned(node("n2").width(2).obj, 4)),
        )),
    )  # fmt: skip
    with _live(server) as live:
        _until(lambda: [(f.name, f.width) for f in live().nodes.facts] == [("n1", 4)])


def test_a_heartbeat_of_a_node_costs_no_new_picture(server: ScriptedServer) -> None:
    _empty(server, NODES)
    heartbeat = _versioned(node("n1").width(2).obj, 2)
    server.script(NODES, a_list([node("n1").width(2).obj]))
    server.script(
        NODES,
        Stream((event("MODIFIED", heartbeat), event("ADDED", _versioned(node("n2").obj, 3)))),
    )
    with _live(server) as live:
        _until(lambda: len(live().nodes.facts) == 2)
        old, new = live().nodes.facts
        assert (old.name, new.name) == ("n1", "n2")
        assert matches(PodSpec(), old.name, old.labels)


def test_limits_and_annotations_of_namespaces_are_known(server: ScriptedServer) -> None:
    _empty(server, NAMESPACES, LIMIT_RANGES)
    server.script(NAMESPACES, a_list([namespace("apps").annotate("evencore.io/cpu", "keep").obj]))
    server.script(LIMIT_RANGES, a_list([limit_range("lr", "apps").maximum("3").obj]))
    with _live(server) as live:
        _until(lambda: live().maxima and live().namespaces)
        assert live().maxima["apps"].container.millis == 3000
        assert live().namespaces["apps"].metadata.annotations == {"evencore.io/cpu": "keep"}


def test_a_rejection_is_known_while_its_pod_can_be_seen(server: ScriptedServer) -> None:
    _empty(server, PODS)
    first, second = _rejected(failed("n1", number=1)), _rejected(failed("n2", number=2))
    server.script(PODS, a_list([first]))
    server.script(
        PODS,
        Stream((event("ADDED", _versioned(second, 5)), event("DELETED", _versioned(first, 6)))),
    )
    with _live(server) as live:
        _until(lambda: [r.node for r in live().rejections.get("rs-1", ())] == ["n2"])


def test_the_last_rejection_of_an_owner_leaves_nothing_behind(server: ScriptedServer) -> None:
    _empty(server, PODS)
    only = _rejected(failed("n1"))
    server.script(PODS, a_list([only]))
    server.script(PODS, Stream((event("DELETED", _versioned(only, 5)),)))
    with _live(server) as live:
        server.wait_seen(2, PODS)
        _until(lambda: live.missing() is None and "rs-1" not in live().rejections)
