"""Reading what tells of nodes: kinds that are missing, and kinds that may not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import node, node_topology, pod
from wire.scripted import a_list, refusal
from wire.support import client_of

from evencore.kube.dump import TOPOLOGIES
from evencore.kube.errors import Forbidden, NotFound
from evencore.kube.node_reading import read_nodes

if TYPE_CHECKING:
    from wire.scripted import ScriptedServer

NODES, PODS, EVENTS = (f"/api/v1/{kind}" for kind in ("nodes", "pods", "events"))


def read(server: ScriptedServer) -> tuple[list[str], tuple[str, ...]]:
    found: list[str] = []
    notes = read_nodes(
        client_of(server), lambda item: found.append(f"{item['kind']} {item['metadata']['name']}")
    )
    return found, notes


def empty_events(server: ScriptedServer) -> None:
    server.script(EVENTS, *(a_list([]) for _ in range(3)))


def test_all_kinds_are_read_and_pods_that_are_done_are_not(server: ScriptedServer) -> None:
    server.script(NODES, a_list([node("n1").obj]))
    server.script(TOPOLOGIES.path, a_list([node_topology("n1").obj]))
    server.script(PODS, a_list([pod("a").obj], token="t"), a_list([pod("b").obj]))  # noqa: S106  no password
    empty_events(server)
    assert read(server) == (["Node n1", "NodeResourceTopology n1", "Pod a", "Pod b"], ())
    pods = next(request for request in server.seen if request.path == PODS)
    assert pods.query["fieldSelector"] == "status.phase!=Succeeded"
    selectors = {r.query["fieldSelector"] for r in server.seen if r.path == EVENTS}
    assert selectors == {
        f"reason={reason}"
        for reason in ("TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError")
    }


def test_what_is_missing_or_forbidden_is_told_once(server: ScriptedServer) -> None:
    server.script(NODES, a_list([node("n1").obj]))
    server.script(TOPOLOGIES.path, refusal(404))
    server.script(PODS, refusal(403, "no pods for you"))
    server.script(EVENTS, *(refusal(403) for _ in range(3)))
    found, notes = read(server)
    assert found == ["Node n1"]
    assert [note.partition(":")[0] for note in notes] == [
        "neither rejected pods nor CPUs in use are known",
        "rejections whose pods are gone are not counted",
    ]
    assert "no pods for you" in notes[0]


@pytest.mark.parametrize(("path", "status"), [(NODES, 403), (PODS, 404)])
def test_without_nodes_there_is_nothing_to_tell_and_pods_are_everywhere(
    server: ScriptedServer, path: str, status: int
) -> None:
    for one in (NODES, TOPOLOGIES.path, PODS):
        server.script(one, refusal(status) if one == path else a_list([]))
    with pytest.raises(Forbidden if status == 403 else NotFound, match=path):
        read(server)
