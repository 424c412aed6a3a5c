"""The workload controllers: what makes pods, and makes them again.

For: `start`, which sets all of them to work on a store.
Not for: binding and running pods, which scheduler and kubelets do, nor for nodes: `nodelife`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.controllers.background import Background
from simulator.controllers.client import Cluster
from simulator.controllers.daemonsets import DaemonSets
from simulator.controllers.dependents import Dependents
from simulator.controllers.deployments import Deployments
from simulator.controllers.job_ttl import FinishedJobs
from simulator.controllers.jobs import Jobs
from simulator.controllers.podgc import PodGC
from simulator.controllers.replicas import ReplicaController
from simulator.controllers.statefulsets import StatefulSets
from simulator.resources import REPLICA_SETS, REPLICATION_CONTROLLERS

if TYPE_CHECKING:
    from simulator.api.writes import Writes
    from simulator.store.store import Store


def start(store: Store, writes: Writes, background: Background | None = None) -> Background:
    """Set all controllers to work; from now on they live on the store's feed and its clock.

    Call it in the server's thread. Returns where they work: a virtual clock is moved by its
    `advance`, which lets every moment's work end before the next one comes.
    """
    background = background or Background(store.clock)
    cluster = Cluster(store, writes, background, Dependents(store))
    for resource in (REPLICA_SETS, REPLICATION_CONTROLLERS):
        ReplicaController(cluster, resource)
    Deployments(cluster)
    StatefulSets(cluster)
    DaemonSets(cluster)
    Jobs(cluster)
    FinishedJobs(cluster)
    PodGC(cluster)
    return background
