"""Nodes that have just come: pods keep off until somebody has seen them ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.resources import NODES
from simulator.server import Options

if TYPE_CHECKING:
    from simulator_support import Wire

PATH = "/api/v1/nodes"
TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
OWN = {"key": "dedicated", "value": "x", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param(None, [TAINT], id="without taints"),
        pytest.param([OWN], [OWN, TAINT], id="with one of its own"),
        pytest.param([TAINT], [TAINT], id="with that very taint"),
    ],
)
def test_a_new_node_is_tainted(
    api: Wire, given: list[dict[str, Any]] | None, stored: list[dict[str, Any]]
) -> None:
    node = {"metadata": {"name": "n"}, "spec": {"taints": given} if given else {}}
    assert api.post(PATH, node)["spec"]["taints"] == stored


def test_the_taint_goes_as_soon_as_the_node_is_ready() -> None:
    with Cluster(PRESETS["autokh"], Options(secure=False, clock=Clock.virtual())) as cluster:
        cluster.advance(1)

        def specs() -> list[dict[str, Any]]:
            return [one.object["spec"] for one in cluster.server.store.table(NODES).records()]

        assert cluster.server.call(specs) == [{}, {}]
