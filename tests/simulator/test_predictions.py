"""The strongest test of `evencore simulate`: what it predicts from a dump comes true.

A pocket cluster lives for a while: pods come, some are rejected, some go again. Then it is dumped,
the simulation predicts what becomes of the next pods, and the cluster is asked the same.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, NamedTuple

import pytest
from simulator_still import Still

from evencore.domain.collect import collect
from evencore.domain.manifests import find_pods
from evencore.domain.names import NODE_TOPOLOGY
from evencore.domain.objects import Source
from evencore.domain.policy import Policy
from evencore.domain.rejection import read_time
from evencore.nodefiles.files import NodesFile, nodes_file
from evencore.simulation.placing import Outcome
from evencore.simulation.report import WITH, Question, Report, Wanted, simulate
from evencore.standing.objects import Objects
from simulator.errands import at_once
from simulator.kubelet.fleet import Fleet
from simulator.kubelet.voice import Site
from simulator.resources import NODES, PODS, TOPOLOGIES
from simulator.scheduler.scheduler import Scheduler

Object = dict[str, Any]
SINGLE = {"topologyManagerPolicy": "single-numa-node"}
FULL = {"cpuManagerPolicyOptions": {"full-pcpus-only": True}}
KUBELETS: dict[str, Object] = {
    "single-numa-node, whole cores": {**SINGLE, **FULL},
    "single-numa-node, pod scope, whole cores": {**SINGLE, **FULL, "topologyManagerScope": "pod"},
    "single-numa-node, threads": SINGLE,
    "restricted, whole cores": {"topologyManagerPolicy": "restricted", **FULL},
    "best-effort, whole cores": {"topologyManagerPolicy": "best-effort", **FULL},
    "none, threads": {},
    "none, whole cores": FULL,
}
AMOUNTS = ("1", "2", "2", "3", "4", "4", "5", "6", "8", "500m", "1500m")


class Cluster(Still):
    """Nodes of one kind; pods say where they go, or the scheduler does."""

    def __init__(self, kubelet: Object, nodes: int) -> None:
        super().__init__()
        Scheduler(self.store, self.writes, at_once)
        self.fleet = Fleet(Site(self.store, self.writes, at_once))
        machine = {"sockets": 2, "coresPerSocket": 5, "memory": "64Gi"}
        node = {
            "name": "n",
            "count": nodes,
            "machine": machine,
            "kubelet": {
                "cpuManagerPolicy": "static",
                "reservedSystemCPUs": "0,10",
                **kubelet,
            },
        }
        self.file: NodesFile = nodes_file({"nodes": [node]})
        self.names = self.file.nodes[0].names()
        self.fleet.run(self.file.nodes)
        self.run()

    def add(self, pod: Object) -> None:
        """Make a pod, and let its kubelet see it."""
        self.add_pod(pod["metadata"]["name"], **pod["spec"])
        self.run(2)

    def describe(self, **facts: object) -> None:
        """Annotate the nodes as an admin would."""
        text = json.dumps({"threadsPerCore": 2, **facts})
        for name in self.names:
            self.change_node(name, metadata={"annotations": {NODE_TOPOLOGY: text}})

    def dump(self) -> list[Object]:
        """Say what `kubectl get nodes,pods,noderesourcetopologies -A -o json` would."""
        return [
            record.object
            for resource in (NODES, PODS, TOPOLOGIES)
            for record in self.store.table(resource).records()
        ]


class Story(NamedTuple):
    """Pods, in the order in which they come."""

    first: list[Object]
    gone: list[str]
    then: list[Object]


def story(seed: int, nodes: list[str], *, bound: bool) -> Story:
    """Make one up."""
    random = Random(seed)  # noqa: S311  a story, no secret

    def pod(name: str) -> Object:
        containers = []
        for number in range(random.choice((1, 1, 1, 2))):
            amounts = {"cpu": random.choice(AMOUNTS), "memory": "64Mi"}
            resources: Object = {"limits": amounts, "requests": dict(amounts)}
            if random.random() < 0.1:
                del resources["limits"]
            containers.append({"name": f"c{number}", "image": "x", "resources": resources})
        spec: Object = {"containers": containers}
        if bound:
            spec["nodeName"] = random.choice(nodes)
        metadata = {"name": name, "namespace": "default"}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    first = [pod(f"first-{number:02}") for number in range(4 * len(nodes))]
    gone = [one["metadata"]["name"] for one in first if random.random() < 0.3]
    return Story(first, gone, [pod(f"then-{number:02}") for number in range(5 * len(nodes))])


def live(cluster: Cluster, told: Story, *, churn: bool) -> None:
    """Let a cluster live through the first part."""
    for pod in told.first:
        cluster.add(pod)
    for name in told.gone if churn else ():
        cluster.delete_pod(name)
        cluster.run(40)
    cluster.run(60)  # until the NodeResourceTopologies tell of it


def predict(cluster: Cluster, told: Story, machines: NodesFile | None) -> Report:
    """Ask what would become of the second part."""
    dump = cluster.dump()
    documents = [(Source("then.yaml"), pod) for pod in told.then]
    wanted = [Wanted(found, found.copies) for found in find_pods(documents).pods]
    now = read_time("2027-01-15T09:00:00Z")
    assert now is not None
    snapshot = collect(dump).snapshot
    return simulate(
        Question(Objects(dump), wanted, snapshot, Policy(), now, evencore=False, machines=machines)
    )


def outcome(cluster: Cluster, pod: Object) -> tuple[Outcome, str | None, str]:
    """Ask the cluster."""
    cluster.add(pod)
    found = cluster.pod(pod["metadata"]["name"])
    status, node = found["status"], found["spec"].get("nodeName")
    if status["phase"] == "Failed":
        message = status["message"].removeprefix("Pod was rejected: ")
        return Outcome.REJECTED, node, f"{status['reason']}: {message}"
    return (Outcome.ADMITTED, node, "") if node else (Outcome.PENDING, None, "")


def predicted(report: Report) -> list[tuple[Outcome, str | None, str]]:
    """List what was said of the pods of the second part, in their order."""
    fates = [fate for one in report.workloads if one.origin == WITH for fate in one.fates]
    return [(f.outcome, f.node, "" if f.outcome is Outcome.PENDING else f.why) for f in fates]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kubelet", KUBELETS.values(), ids=KUBELETS)
def test_on_machines_that_are_stated_every_prediction_comes_true(
    kubelet: Object, seed: int
) -> None:
    cluster = Cluster(kubelet, nodes=3)
    told = story(seed, cluster.names, bound=True)
    live(cluster, told, churn=False)
    said = predicted(predict(cluster, told, cluster.file))
    assert said == [outcome(cluster, pod) for pod in told.then]
    assert len({one for one, _, _ in said}) > 1  # a story in which nothing happens proves nothing


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kubelet", KUBELETS.values(), ids=KUBELETS)
def test_after_pods_have_gone_it_is_enough_that_the_free_cpus_of_numa_nodes_are_published(
    kubelet: Object, seed: int
) -> None:
    cluster = Cluster(kubelet, nodes=3)
    told = story(seed, cluster.names, bound=True)
    live(cluster, told, churn=True)
    cluster.describe(fullPcpusOnly="cpuManagerPolicyOptions" in kubelet)
    said = predicted(predict(cluster, told, None))
    assert said == [outcome(cluster, pod) for pod in told.then]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kubelet", KUBELETS.values(), ids=KUBELETS)
def test_what_nobody_tells_may_make_a_prediction_unknown_but_never_wrong(
    kubelet: Object, seed: int
) -> None:
    cluster = Cluster(kubelet, nodes=3)
    told = story(seed, cluster.names, bound=True)
    live(cluster, told, churn=False)
    said = predicted(predict(cluster, told, None))
    real = [outcome(cluster, pod) for pod in told.then]
    pairs = zip(said, real, strict=True)
    known = [(one, other) for one, other in pairs if one[0] is not Outcome.UNKNOWN]
    assert [one[:2] for one, _ in known] == [other[:2] for _, other in known]
    assert known


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kubelet", KUBELETS.values(), ids=KUBELETS)
def test_the_scheduler_of_one_node_is_foreseen_too(kubelet: Object, seed: int) -> None:
    cluster = Cluster(kubelet, nodes=1)
    told = story(seed, cluster.names, bound=False)
    live(cluster, told, churn=False)
    said = predicted(predict(cluster, told, cluster.file))
    assert said == [outcome(cluster, pod) for pod in told.then]
