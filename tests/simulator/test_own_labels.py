"""evencore's labeller and `evencore nodes` against the pocket cluster, over TLS."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from builders import node, node_topology
from click.testing import CliRunner
from simulator_support import PODS, pod

from controller.labeller import Known, Labeller
from evencore.cli import main
from evencore.domain import names
from evencore.domain.exclusive import NONE
from evencore.domain.learnt import NOTHING
from evencore.kube.client import Client, connect
from evencore.kube.node_reading import read_nodes
from evencore.kube.writer import MERGE_PATCH, Writer
from evencore.nodes.objects import Objects
from simulator.clock import Clock, parse_timestamp
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from pathlib import Path

TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "u",
    "controller": True,
}
REJECTED = {
    "phase": "Failed",
    "reason": "SMTAlignmentError",
    "message": "Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per "
    "core = 2",
    "startTime": "2026-03-01T10:40:00Z",
}


def furnish(client: Client) -> None:
    """Make a node that has rejected a pod, and whose NUMA nodes an agent tells."""
    client.write("POST", "/api/v1/nodes", node("n1").label("theirs", "x").obj)
    told = node_topology("n1").numa("22", "24").attribute("topologyManagerPolicy", "restricted")
    client.write("POST", TOPOLOGIES, told.obj)
    rejected = pod("web-1", nodeName="n1")
    rejected["metadata"]["ownerReferences"] = [OWNER]
    client.write("POST", PODS, rejected)
    client.write("PATCH", f"{PODS}/web-1/status", {"status": REJECTED}, content_type=MERGE_PATCH)


def labeller(client: Client) -> tuple[Labeller, Objects]:
    objects = Objects()
    read_nodes(client, objects.take)

    def look(name: str) -> Known:
        return Known(
            objects.nodes[name],
            objects.topologies.get(name),
            objects.learnt.get(name, NOTHING),
            objects.in_use.get(name, NONE),
        )

    return Labeller(Writer(client, threading.Event()), look), objects


def told(path: Path) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["nodes", "--kubeconfig", str(path), "-o", "json"])
    assert result.exit_code == 0, result.output
    (one,) = json.loads(result.stdout)["nodes"]
    return dict(one)


def test_a_node_is_labelled_once_and_people_can_read_why(tmp_path: Path) -> None:
    path = tmp_path / "config"
    # The pod is made when it is rejected: nothing is ever rejected before.
    clock = Clock.virtual(parse_timestamp(REJECTED["startTime"]))
    with ApiServer(Options(seed=1, clock=clock)) as server:
        path.write_text(server.kubeconfig())
        client = connect(str(path))
        furnish(client)
        before = told(path)
        assert labeller(client)[0].reconcile("n1") is None
        after = told(path)
        one, objects = labeller(client)
        version = client.write("PATCH", "/api/v1/nodes/n1", {}, content_type=MERGE_PATCH)
        assert one.reconcile("n1") is None
        assert client.write("PATCH", "/api/v1/nodes/n1", {}, content_type=MERGE_PATCH) == version
        client.close()
    assert [text.partition(":")[0] for text in before["toLabel"]] == [
        f"{label['key']}={label['value']}" for label in after["labels"]
    ]
    assert after["toLabel"] == []
    metadata = objects.nodes["n1"].metadata
    assert metadata is not None
    assert metadata.labels == {
        "theirs": "x",
        names.NODE: "n1",
        names.THREADS_PER_CORE: "2",
        names.MAX_CONTAINER_CPUS: "46",
        names.MAX_POD_CPUS: "46",
    }
    assert "refused pod default/web-1 at " in after["labels"][1]["because"]


def test_a_cluster_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    path = str(tmp_path / "missing")
    result = CliRunner().invoke(main, ["nodes", "--kubeconfig", path])
    assert result.exit_code == 2
    assert path in result.stderr
