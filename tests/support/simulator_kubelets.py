"""Scheduler and kubelets in a store on a virtual clock: `simulator_still` with nodes at work."""

from __future__ import annotations

from typing import Any

from simulator_still import Still

from evencore.nodefiles.files import nodes_file
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.presets import PRESETS
from simulator.kubelet.voice import Site
from simulator.scheduler.scheduler import Scheduler

START = "2027-01-15T08:00:00Z"

SMALL: dict[str, Any] = {
    "machine": {"coresPerSocket": 2},
    "kubelet": {
        "cpuManagerPolicy": "static",
        "topologyManagerPolicy": "single-numa-node",
        "reservedSystemCPUs": "0,2",
    },
}


class Cluster(Still):
    """Scheduler and kubelets."""

    def __init__(self, **node: Any) -> None:  # noqa: ANN401  any part of a node file
        super().__init__()
        Scheduler(self.store, self.writes, at_once)
        self.fleet = Fleet(Site(self.store, self.writes, at_once))
        files = nodes_file({"nodes": [{"name": "n1", **node}]}) if node else PRESETS["autokh"]
        self.fleet.run(files.nodes)

    def status(self, name: str = "p") -> dict[str, Any]:
        return self.pod(name)["status"]

    def conditions(self, name: str = "p") -> dict[str, str]:
        return {one["type"]: one["status"] for one in self.status(name)["conditions"]}
