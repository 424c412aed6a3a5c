"""kubectl and the workload controllers, with scheduler and kubelets, on a real clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulator_kubectl import Kubectl

from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    with Cluster(PRESETS["autokh"]) as running:
        yield Kubectl(running.server, tmp_path)


def test_a_rollout_is_followed_scaled_updated_and_undone_by_name(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=registry.example/web:1", "--replicas=2")
    done = 'deployment "web" successfully rolled out'
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("set", "image", "deployment/web", "web=registry.example/web:2")
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    assert "3/3" in kubectl("get", "deployment", "web")
    images = kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}")
    assert images.split().count("registry.example/web:2") == 3
    kubectl("rollout", "undo", "deployment/web")
    assert done in kubectl("rollout", "status", "deployment/web", "--timeout=50s")
    history = kubectl("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]
    assert "ScalingReplicaSet" in kubectl("describe", "deployment", "web")
