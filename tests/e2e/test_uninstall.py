"""After an uninstall nothing of ours holds any pod."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from e2e import workloads
from e2e.api import until
from e2e.installation import CONFIGURATIONS
from e2e.processes import EVENCORE

from evencore.domain import names
from evencore.kube.removal import WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.world import World


@pytest.fixture
def alone(world: World) -> Iterator[None]:
    """Make sure that only our own installation is taken away; put it back afterwards."""
    others = [
        one["metadata"]["name"]
        for one in world.api.get(CONFIGURATIONS)["items"]
        if one["metadata"]["name"] != world.configuration
        and any(hook["name"] == WEBHOOK for hook in one["webhooks"])
    ]
    if others:
        pytest.skip(f"evencore is installed in this cluster: {', '.join(others)}")
    yield
    world.install()
    world.mend()


@pytest.mark.usefixtures("alone")
def test_an_uninstall_leaves_no_gate_behind(world: World) -> None:
    with world.namespace("uninstall") as namespace:
        world.fill(namespace, "room", 12, 12)
        hosts = world.nodes.hosts("room")
        world.api.make(workloads.workload("Deployment", namespace, "w", hosts, "16", replicas=3))
        until(lambda: world.at_peace(namespace, "w"), lambda: world.story(namespace))
        assert world.controllers["a"].stop() == 0
        until(lambda: world.counter.held(namespace, "w"), lambda: world.story(namespace))
        command = [EVENCORE, "uninstall", "--yes", "--kubeconfig", str(world.kubeconfig)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done
        # The loop is back, as it was before us: nothing is held, and new pods pass untouched.
        until(lambda: not world.counter.held(namespace), lambda: world.story(namespace))
        for node in world.nodes.all:
            assert names.NODE not in world.nodes.labels(node)
