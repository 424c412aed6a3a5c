"""Reading a cluster once: pages, a missing CRD, refusals."""

from __future__ import annotations

import json

import pytest
from builders import failed, limit_range, namespace, node, node_topology
from wire.scripted import Answer, ScriptedServer, a_list, refusal
from wire.support import client_of

from evencore.kube.dump import TOPOLOGIES, dump
from evencore.kube.errors import Forbidden, NotFound, Unreadable

PATHS = [f"/api/v1/{kind}" for kind in ("nodes", "namespaces", "limitranges", "pods")]
EVENTS = "/api/v1/events"
STARTS = f"{EVENTS}?reason=Starting,involvedObject.kind=Node"


def test_it_reads_every_kind_page_by_page(server: ScriptedServer) -> None:
    server.script(PATHS[0], a_list([node("n1").obj], token="t"), a_list([node("n2").obj]))  # noqa: S106  no password
    server.script(PATHS[1], a_list([namespace("apps").obj]))
    server.script(PATHS[2], a_list([limit_range().maximum("3").obj]))
    server.script(TOPOLOGIES.path, a_list([node_topology("n1").numa("22").obj]))
    server.script(PATHS[3], a_list([failed("n1").obj]))
    server.script(STARTS, a_list([{"metadata": {"name": "n1.1"}, "reason": "Starting"}]))
    server.otherwise(EVENTS, a_list([]))
    read = [(item["kind"], item["metadata"]["name"]) for item in dump(client_of(server))]
    assert read == [
        ("Node", "n1"),
        ("Node", "n2"),
        ("Namespace", "apps"),
        ("LimitRange", "lr"),
        ("NodeResourceTopology", "n1"),
        ("Pod", "failed-n1-1"),
        ("Event", "n1.1"),
    ]
    assert server.seen[1].query["continue"] == "t"
    selectors = [seen.query.get("fieldSelector") for seen in server.seen]
    selected = [selector for selector in selectors if selector]
    assert selected == [
        "status.phase=Failed",
        "reason=TopologyAffinityError",
        "reason=SMTAlignmentError",
        "reason=UnexpectedAdmissionError",
        "reason=Starting,involvedObject.kind=Node",
    ]


def test_a_cluster_without_topology_objects_is_no_error(server: ScriptedServer) -> None:
    for path in PATHS:
        server.script(path, a_list([]))
    server.script(TOPOLOGIES.path, refusal(404))
    server.otherwise(EVENTS, a_list([]))
    assert list(dump(client_of(server))) == []


def test_numbers_keep_their_text(server: ScriptedServer) -> None:
    odd = limit_range().maximum("4.001").obj
    body = json.dumps({"metadata": {}, "items": [odd]}).replace('"4.001"', "4.001")
    for path in (PATHS[0], PATHS[1], TOPOLOGIES.path, PATHS[3]):
        server.script(path, a_list([]))
    server.script(PATHS[2], Answer(body=body.encode()))
    server.otherwise(EVENTS, a_list([]))
    (item,) = dump(client_of(server))
    assert item["spec"]["limits"][0]["max"]["cpu"] == "4.001"


REFUSALS = {
    "a refusal names what to grant": (refusal(403, "nodes is forbidden"), Forbidden),
    "another missing kind is an error": (refusal(404), NotFound),
    "an answer that is no list is an error": (Answer(body=b'{"items": 3'), Unreadable),
    "nor is a list without metadata": (Answer(body=b'{"items": []}'), Unreadable),
}


@pytest.mark.parametrize(("answer", "error"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(server: ScriptedServer, answer: Answer, error: type[Exception]) -> None:
    server.script(PATHS[0], answer)
    with pytest.raises(error, match=PATHS[0]):
        list(dump(client_of(server)))
