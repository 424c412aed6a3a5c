"""`evencore simulate` as people use it: a dump over the wire, the command, and what came true."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from simulator_support import Wire

from evencore.simulate_command import make_simulate_command
from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.server import Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Object = dict[str, Any]
LISTS = (
    "/api/v1/nodes",
    "/api/v1/pods",
    "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies",
)
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LOOPING = 20
"""Rejected pods of one replica: far more than there are nodes."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(PRESETS["autokh"], Options(clock=Clock.virtual(), secure=False)) as running:
        running.advance(20)
        yield running


def deployment(name: str, cpu: int, replicas: int) -> Object:
    resources = {"limits": {"cpu": str(cpu), "memory": "1Gi"}}
    containers = [{"name": "app", "image": "registry.example/app:1", "resources": resources}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": containers},
            },
        },
    }


def predicted(wire: Wire, there: Path, added: Object) -> Object:
    """Dump the cluster and ask what becomes of one more manifest, without evencore."""
    lists = [wire.get(path) for path in LISTS]
    dump, manifest = there / "dump.json", there / "more.json"
    dump.write_text("\n".join(json.dumps(one) for one in lists))
    manifest.write_text(json.dumps(added))
    args = ["-f", str(dump), "--with", str(manifest), "--plain", "-o", "json"]
    result = CliRunner().invoke(make_simulate_command(), args)
    assert result.exit_code in (0, 1), result.output
    found: Object = json.loads(result.stdout)["outcomes"]
    return found


def phases(wire: Wire, name: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pod in wire.get(f"/api/v1/namespaces/default/pods?labelSelector=app%3D{name}")["items"]:
        phase = pod["status"]["phase"]
        found[phase] = found.get(phase, 0) + 1
    return found


@pytest.mark.parametrize(
    ("cpu", "replicas", "said"),
    [(10, 6, {"admitted": 6}), (20, 4, {"admitted": 4}), (26, 1, {"loops": 1})],
)
def test_a_deployment_becomes_what_was_said(
    cluster: Cluster, tmp_path: Path, cpu: int, replicas: int, said: Object
) -> None:
    with Wire(cluster.server) as wire:
        added = deployment("next", cpu, replicas)
        assert predicted(wire, tmp_path, added) == said
        wire.post(DEPLOYMENTS, added)
        cluster.advance(20)
        became = phases(wire, "next")
        assert became.get("Running", 0) == said.get("admitted", 0)
        assert (became.get("Failed", 0) > LOOPING) == ("loops" in said)


def test_what_runs_there_is_counted(cluster: Cluster, tmp_path: Path) -> None:
    with Wire(cluster.server) as wire:
        wire.post(DEPLOYMENTS, deployment("first", 14, 4))  # one in each NUMA node
        cluster.advance(30)
        assert phases(wire, "first") == {"Running": 4}
        added = deployment("next", 12, 1)  # 8 and 10 CPUs are free
        assert predicted(wire, tmp_path, added) == {"loops": 1}
        wire.post(DEPLOYMENTS, added)
        cluster.advance(20)
        assert phases(wire, "next")["Failed"] > LOOPING
