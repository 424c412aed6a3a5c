"""The loops of rejected pods that were measured on a real control plane, played in the pocket one.

For: one table that a test holds to 15 % and `make bench` prints; the clock is virtual, so the
figures are the same in every run.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evencore.nodefiles.files import NodesFile
from simulator.api.routing import Target
from simulator.api.writes import Call
from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.objects import dig
from simulator.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from simulator.server import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.resources import Resource
    from simulator.store.table import Change

Object = dict[str, Any]

_AMOUNTS = {"cpu": "27", "memory": "1Gi"}
_CONTAINER = {
    "name": "app",
    "image": "registry.example/app:1",
    "resources": {"limits": _AMOUNTS, "requests": _AMOUNTS},
}


def pods(name: str, **spec: object) -> Object:
    """Make the template of pods that no node of the preset can align."""
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [_CONTAINER], **spec}}


class Run:
    """A cluster in which something loops; notes each rejection."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.store = cluster, cluster.server.store
        self.start = self.store.clock.now()
        self.rejections: list[tuple[float, str]] = []  # seconds since the start, node
        self.death: float | None = None  # when a Job was Failed
        self.store.table(PODS).listen(self._note)
        self.store.table(JOBS).listen(self._note_job)

    def _note(self, change: Change) -> None:
        pod, before = change.record.object, change.previous
        if dig(pod, "status", "phase") == "Failed" and (
            before is None or dig(before.object, "status", "phase") != "Failed"
        ):
            self.rejections.append((self.now(), pod["spec"]["nodeName"]))

    def _note_job(self, change: Change) -> None:
        conditions = dig(change.record.object, "status", "conditions") or ()
        if self.death is None and any(one["type"] == "Failed" for one in conditions):
            self.death = self.now()

    def now(self) -> float:
        return self.store.clock.now() - self.start

    def make(self, resource: Resource, obj: Object) -> None:
        create = self.cluster.server.writes.create
        self.cluster.server.wait_for(create(Target(resource, "default"), obj, Call()))

    def get(self, resource: Resource, name: str) -> Object:
        return self.cluster.server.call(lambda: self.store.get(resource, "default", name).object)

    def all(self, resource: Resource) -> list[Object]:
        table = self.store.table(resource)
        return self.cluster.server.call(
            lambda: [record.object for record in table.records("default")]
        )


def a_minute(run: Run) -> float:
    """Count in the first minute: most of the Events that share the limit of requests are in it."""
    run.cluster.advance(60)
    return len(run.rejections)


def in_a_quarter(run: Run) -> float:
    run.cluster.advance(900)
    return len(run.rejections)


def on_one_node(run: Run) -> float:
    run.cluster.advance(300)
    node = run.rejections[0][1]
    return sum(one == node for _, one in run.rejections)


def last_gap(run: Run) -> float:
    run.cluster.advance(300)
    node = run.rejections[0][1]
    *_, (before, after) = pairwise(at for at, one in run.rejections if one == node)
    return after - before


def failures_of_job(run: Run) -> float:
    run.cluster.advance(700)
    return float(run.get(JOBS, "x")["status"]["failed"])


def death_of_job(run: Run) -> float:
    """Tell after how many seconds the Job is Failed."""
    run.cluster.advance(700)
    assert run.death is not None
    return run.death


def pods_in_all(run: Run) -> float:
    run.cluster.advance(60)
    return len(run.all(PODS))


class Loop(NamedTuple):
    """What is made, on how many nodes, what is counted, and what was measured."""

    resource: Resource
    spec: Callable[[str], Object]  # by the name of the workload
    count: Callable[[Run], float]
    measured: float
    unit: str = "rejected a minute"
    nodes: int = 2
    times: int = 1


def _set(**spec: object) -> Callable[[str], Object]:
    return lambda name: {
        "selector": {"matchLabels": {"app": name}},
        "template": pods(name),
        **spec,
    }


def _job(**spec: object) -> Callable[[str], Object]:
    return lambda name: {"template": pods(name, restartPolicy="Never"), "backoffLimit": 6, **spec}


_FOUR = _job(parallelism=4)

LOOPS: dict[str, Loop] = {
    "Deployment, 1 replica": Loop(DEPLOYMENTS, _set(), a_minute, 590),
    "Deployment, 10 replicas": Loop(DEPLOYMENTS, _set(replicas=10), a_minute, 1139),
    "the same, 100 nodes": Loop(DEPLOYMENTS, _set(replicas=10), a_minute, 1113, nodes=100),
    "Deployment, 100 replicas, 100 nodes": Loop(
        DEPLOYMENTS, _set(replicas=100), a_minute, 1193, nodes=100
    ),
    "5 Deployments, 1 replica each": Loop(DEPLOYMENTS, _set(), a_minute, 546, times=5),
    "StatefulSet, 1 replica": Loop(STATEFUL_SETS, _set(), a_minute, 288),
    "StatefulSet, 3 replicas": Loop(STATEFUL_SETS, _set(replicas=3), a_minute, 296),
    "ReplicationController, 1 replica": Loop(
        REPLICATION_CONTROLLERS, lambda name: {"template": pods(name)}, a_minute, 590
    ),
    "DaemonSet": Loop(DAEMON_SETS, _set(), on_one_node, 10, "per node in 5 min"),
    "DaemonSet, last gap of 5 min": Loop(DAEMON_SETS, _set(), last_gap, 128, "s"),
    "Job, backoffLimit 6": Loop(JOBS, _job(), failures_of_job, 7, "rejected in all"),
    "Job, backoffLimit 6, dead": Loop(JOBS, _job(), death_of_job, 630, "s"),
    "Job, parallelism 4": Loop(JOBS, _FOUR, failures_of_job, 8, "rejected in all"),
    "Job, parallelism 4, dead": Loop(JOBS, _FOUR, death_of_job, 95, "s"),
    "bare Pod": Loop(PODS, lambda name: pods(name)["spec"], pods_in_all, 1, "rejected in all"),
}

# Where the machine that was measured set the pace, not Kubernetes: one rejection after the other
# took it longer among 100 kubelets, and everything did when 10,000 pods had failed.
BOUND_BY_THE_MACHINE: dict[str, Loop] = {
    "Deployment, 1 replica, 100 nodes": Loop(DEPLOYMENTS, _set(), a_minute, 497, nodes=100),
    "Deployment, 10 replicas, 15 min": Loop(
        DEPLOYMENTS, _set(replicas=10), in_a_quarter, 13_078, "rejected in all"
    ),
}


@contextmanager
def playing(loop: Loop) -> Iterator[Run]:
    """Have a loop begin in a cluster on a virtual clock, which the caller moves on."""
    (machine,) = PRESETS["autokh"].nodes
    nodes = NodesFile(nodes=[machine.model_copy(update={"count": loop.nodes})])
    with Cluster(nodes, Options(clock=Clock.virtual(), secure=False)) as cluster:
        cluster.advance(1)
        run = Run(cluster)
        for number in range(loop.times):
            name = f"x{number}" if number else "x"
            run.make(loop.resource, {"metadata": {"name": name}, "spec": loop.spec(name)})
        yield run


def figure(loop: Loop) -> float:
    """Play a loop and count."""
    with playing(loop) as run:
        return loop.count(run)


def table() -> Iterator[str]:
    """Write all figures beside the measured ones, each when it is there."""
    for name, loop in {**LOOPS, **BOUND_BY_THE_MACHINE}.items():
        got = figure(loop)
        off = 100 * (got / loop.measured - 1)
        yield f"{name:36} {loop.measured:6.0f} {got:8.1f} {off:+5.0f} %  {loop.unit}"
