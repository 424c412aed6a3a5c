"""The live snapshot follows the cluster: nodes, limits and rejections, over the wire."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from builders import NOW, failed, limit_range, namespace, node
from wire.scripted import PATIENCE_S, ScriptedServer, Stream, a_list, event
from wire.support import client_of

from evencore.domain.policy import Policy
from evencore.domain.topology import NodeFacts, node_facts
from evencore.kube.snapshots import LiveSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest
    from builders import Pod

    from evencore.domain.views import NodeView
    from evencore.kube.source import Listener

NODES, NAMESPACES = "/api/v1/nodes", "/api/v1/namespaces"
LIMIT_RANGES, PODS, EVENTS = "/api/v1/limitranges", "/api/v1/pods", "/api/v1/events"


@contextmanager
def _live(server: ScriptedServer, listener: Listener | None = None) -> Iterator[LiveSnapshot]:
    client = client_of(server)
    live = LiveSnapshot(client, Policy(), listener=listener)
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
    server.otherwise(EVENTS, a_list([]))  # several kinds of them are watched


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


def test_an_annotation_of_others_on_a_node_is_no_change(server: ScriptedServer) -> None:
    """Some agents write one every few seconds, on every node."""
    _empty(server, NODES)
    load = _versioned(node("n1").width(2).annotate("agent.example/load", "0.7").obj, 2)
    more = _versioned(node("n2").width(2).obj, 3)
    server.script(NODES, a_list([node("n1").width(2).obj]))
    server.script(NODES, Stream((event("MODIFIED", load), event("ADDED", more))))
    told: list[str] = []
    with _live(server, lambda _, key, *__: told.append(key)) as live:
        _until(lambda: [f.name for f in live().nodes.facts] == ["n1", "n2"])
    assert told == ["n1", "n2"]


def test_what_says_nothing_of_its_width_costs_no_new_nodes(server: ScriptedServer) -> None:
    _empty(server, NODES)
    go = threading.Event()
    said = node("n1").width(2).annotate("evencore.io/room-since", "2026-03-01T11:00:00Z")
    server.script(NODES, a_list([node("n1").width(2).obj]))
    changed = event("MODIFIED", _versioned(said.obj, 2))
    server.script(NODES, Stream((lambda: go.wait(PATIENCE_S), changed)))
    with _live(server) as live:
        _until(lambda: live().nodes.facts and live.missing() is None)
        first = live()
        go.set()
        _until(lambda: live() is not first)
        assert live().nodes is first.nodes


def test_what_an_admin_wrote_wrongly_on_a_node_is_logged_once(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    _empty(server, NODES)
    wrong = node("n1").annotate("evencore.io/topology", "{")
    server.script(NODES, a_list([wrong.obj, node("n2").obj]))
    server.script(NODES, Stream((event("MODIFIED", _versioned(wrong.width(4).obj, 2)),)))
    with _live(server) as live:
        _until(lambda: [f.width for f in live().nodes.facts] == [4, None])
    (record,) = [r for r in caplog.records if "evencore.io/topology" in r.getMessage()]
    assert (
        record.getMessage() == "node n1: annotation evencore.io/topology: '{' is not JSON; ignored"
    )


def test_a_fault_of_ours_does_not_end_the_thread_that_puts_the_picture_together(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(view: NodeView) -> NodeFacts:
        if view.metadata.name == "odd":
            raise RuntimeError("nobody thought of it")
        return node_facts(view)

    monkeypatch.setattr("evencore.kube.snapshots.node_facts", fails)
    _empty(server, NODES)
    gone = event("DELETED", _versioned(node("odd").obj, 2))
    server.script(NODES, a_list([node("odd").obj, node("n1").width(2).obj]), Stream((gone,)))
    with _live(server) as live:
        _until(lambda: [f.name for f in live().nodes.facts] == ["n1"])


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
        _until(lambda: [r.node for r in live().evidence.all_of("apps/rs-1")] == ["n2"])


def test_the_last_rejection_of_an_owner_leaves_nothing_behind(server: ScriptedServer) -> None:
    _empty(server, PODS)
    only = _rejected(failed("n1"))
    server.script(PODS, a_list([only]))
    server.script(PODS, Stream((event("DELETED", _versioned(only, 5)),)))
    with _live(server) as live:
        server.wait_seen(2, PODS)
        _until(lambda: live.missing() is None and not live().evidence.owners())


def _said(reason: str, about: dict[str, str], version: int, at: str) -> dict:
    return {
        "metadata": {
            "name": f"e{version}",
            "namespace": about.get("namespace", "apps"),  # an API server takes no other
            "resourceVersion": str(version),
        },
        "involvedObject": {"namespace": "apps", **about},
        "reason": reason,
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": at,
    }


def test_an_event_tells_of_a_stateful_sets_pod_that_is_gone(server: ScriptedServer) -> None:
    """Its controller deletes it at once, and the next has its name."""
    _empty(server)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"kind": "Pod", "name": "web-0", "uid": "u1"}
    server.script(f"{EVENTS}?reason=SMTAlignmentError", a_list([_said("x", about, 1, now)]))
    rejected = _said("TopologyAffinityError", about, 2, now)
    server.script(f"{EVENTS}?reason=TopologyAffinityError", a_list([rejected]))
    with _live(server) as live:
        _until(lambda: live.missing() is None and live().evidence.owners())
        assert [r.uid for r in live().evidence.all_of("StatefulSet/apps/web")] == ["u1"]


def test_what_a_kubelet_rejects_when_it_has_just_started_says_nothing_of_its_node(
    server: ScriptedServer,
) -> None:
    _empty(server, PODS)
    server.script(PODS, a_list([_rejected(failed("n1")), _rejected(failed("n2"))]))
    started = (NOW - timedelta(minutes=1)).isoformat()
    about = {"kind": "Node", "namespace": "default", "name": "n1", "uid": "n1"}
    start = _said("Starting", about, 1, started)
    server.script(f"{EVENTS}?reason=Starting,involvedObject.kind=Node", a_list([start]))
    with _live(server) as live:
        _until(lambda: live.missing() is None)
        assert [n.node for n in live().evidence.of("apps/rs-1", NOW).nodes] == ["n2"]


def test_another_pod_of_the_same_name_leaves_the_first_behind(server: ScriptedServer) -> None:
    """A watch that was away may miss that one went and another came."""
    _empty(server, PODS)
    first = _rejected(failed("n1"))
    second = {**_rejected(failed("n2")), "metadata": {**first["metadata"], "uid": "another"}}
    server.script(PODS, a_list([first]))
    server.script(PODS, Stream((event("MODIFIED", _versioned(second, 5)),)))
    with _live(server) as live:
        _until(lambda: [r.uid for r in live().evidence.all_of("apps/rs-1")] == ["another"])


def test_since_when_there_is_room_on_a_node_is_known(server: ScriptedServer) -> None:
    _empty(server, NODES)
    at = "2026-03-01T10:40:00Z"
    roomy = node("n1").annotate("evencore.io/room-since", at)
    server.script(NODES, a_list([roomy.obj, node("n2").metadata(creationTimestamp=at).obj]))
    server.script(NODES, Stream((event("DELETED", _versioned(node("n2").obj, 4)),)))
    with _live(server) as live:
        _until(lambda: live().rooms == {"n1": NOW})
