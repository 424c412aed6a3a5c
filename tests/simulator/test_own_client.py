"""evencore's own client and source against the pocket cluster."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from simulator_support import PATIENCE_S, PODS, Wire, pod

from evencore.domain.views import NodeView, PodView
from evencore.kube import client, source
from simulator.api.bodies import MERGE_PATCH
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Told:
    """Remembers what a source tells and waits for it."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str, bool, bool]] = []
        self.changed = threading.Condition()

    def __call__(self, name: str, key: str, before: Any, after: Any, /) -> None:  # noqa: ANN401  any view
        with self.changed:
            self.changes.append((name, key, before is not None, after is not None))
            self.changed.notify_all()

    def wait(self, *wanted: tuple[str, str, bool, bool]) -> None:
        with self.changed:
            came = self.changed.wait_for(lambda: set(wanted) <= set(self.changes), PATIENCE_S)
        assert came, self.changes


@pytest.fixture
def kube(tmp_path: Path) -> Iterator[tuple[client.Client, Wire]]:
    with ApiServer(Options(secure=False)) as running, Wire(running) as wire:
        path = tmp_path / "config"
        path.write_text(running.kubeconfig())
        own = client.connect(str(path))
        yield own, wire
        own.close()


def test_a_source_lists_in_pages_and_follows_failed_pods(kube: tuple[client.Client, Wire]) -> None:
    own, wire = kube
    for number in range(250):
        wire.post("/api/v1/nodes", {"metadata": {"name": f"n{number}"}})
    told = Told()
    kinds = {
        "nodes": source.Kind(source.NODES, NodeView),
        "failed": source.Kind(source.FAILED_PODS, PodView),
    }
    following = source.ClusterSource(own, kinds, told)
    following.start()
    try:
        assert following.wait_synced(PATIENCE_S) == []
        assert len(following.objects("nodes")) == 250
        wire.post(PODS, pod())
        wire.patch(f"{PODS}/p/status", {"status": {"phase": "Failed"}}, MERGE_PATCH)
        told.wait(("failed", "default/p", False, True))
        wire.ask("DELETE", f"{PODS}/p")
        wire.ask("DELETE", "/api/v1/nodes/n7")
        told.wait(("failed", "default/p", True, False), ("nodes", "n7", True, False))
    finally:
        following.stop()
