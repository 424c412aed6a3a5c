"""Tenants who may write Events and the status of their pods forge evidence; nobody else notices."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

import pytest
from e2e import workloads
from e2e.api import path_of, until

from evencore.domain import names
from evencore.kube.errors import KubeError

if TYPE_CHECKING:
    from e2e.api import Object
    from e2e.world import World

MISALIGNED: Final = (
    "SMTAlignmentError",
    "Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = {}",
)
NO_ROOM: Final = (
    "TopologyAffinityError",
    "Pod was rejected: Resources cannot be allocated with Topology locality",
)


class Tenant:
    """Somebody who may do everything in one namespace, and does."""

    def __init__(self, world: World, namespace: str, owner: Object | None) -> None:
        self._world, self.namespace, self._owner = world, namespace, owner
        self._number = 0
        self._forged: list[Object] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what no kubelet will: it never saw these pods run."""
        for pod in self._forged:
            self._world.api.end_at_once(pod)

    def forge(self, node: str, reason: str, message: str) -> Object:
        """Make a pod that says its kubelet refused it, as one of somebody else's ReplicaSet."""
        self._number += 1
        made = workloads.pod(self.namespace, f"forged-{self._number}", (), "2")
        # No affinity: nobody schedules it, and its kubelet does not mind that it has ended.
        made["spec"] = {"nodeName": node, "containers": workloads.containers("2")}
        pod = self._world.api.make(made)
        self._world.counter.forgive(pod["metadata"]["uid"])
        self._forged.append(pod)
        # Later its kubelet would say of it what is true.
        until(lambda: self._phase(pod) == "Running", lambda: self._phase(pod))
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = {"phase": "Failed", "reason": reason, "message": message, "startTime": now}
        failed = self._world.api.merge(f"{path_of(pod)}/status", {"status": status})
        if self._owner:
            self.adopt(pod, self._owner)
        return failed

    def adopt(self, pod: Object, owner: Object) -> None:
        """Let a pod name its owner, last of all: who names one that is not there is collected."""
        reference = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
        }
        self._world.api.merge(path_of(pod), {"metadata": {"ownerReferences": [reference]}})

    def _phase(self, pod: Object) -> str:
        found: str = self._world.api.get(path_of(pod))["status"].get("phase", "")
        return found

    def tell(self, about: Object, reason: str, message: str, node: str) -> Object | None:
        """Write an Event as a kubelet would; None if the API server does not take it."""
        self._number += 1
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": f"forged.{self._number}", "namespace": self.namespace},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "type": "Warning",
            "source": {"component": "kubelet", "host": node},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        try:
            return self._world.api.make(event)
        except KubeError:
            return None


def _label(world: World, node: str, label: str) -> str | None:
    found: Any = world.api.get(f"/api/v1/nodes/{node}")["metadata"]["labels"].get(label)
    return None if found is None else str(found)


def _replica_set(world: World, namespace: str) -> Object:
    [found] = world.api.there("ReplicaSet", namespace)
    return found


def _runs(world: World, namespace: str, name: str, cpu: str) -> Object:
    """Make a Deployment on the spare nodes, and wait until its one pod runs."""
    hosts = world.nodes.hosts("spare")
    world.api.make(workloads.workload("Deployment", namespace, name, hosts, cpu))
    until(lambda: world.counter.running(namespace, name), lambda: world.story(namespace))
    return world.counter.running(namespace, name)[0].pod


@pytest.mark.parametrize("width", [1, 8])
def test_a_forged_alignment_error_changes_neither_labels_nor_how_others_are_rounded(
    width: int, world: World
) -> None:
    spare = world.nodes.names("spare")
    reason, message = MISALIGNED
    # The victim's namespace is there as long as the forger's: alone, one may teach what it likes.
    with (
        world.namespace(f"victim-{width}") as theirs,
        world.namespace(f"forger-{width}") as own,
        Tenant(world, own, {"metadata": {"name": "x", "uid": f"x-{width}"}}) as forger,
    ):
        before = [_label(world, node, names.THREADS_PER_CORE) for node in spare]
        for node in spare:
            forger.forge(node, reason, message.format(width))
        log = world.controllers["a"].log
        until(lambda: all(f"forged-{n}" in log() for n in range(1, len(spare) + 1)), log)
        doubts = [line for line in log().splitlines() if f"pod {own}/forged" in line]
        assert any("too few namespaces" in line or "no core of" in line for line in doubts)
        pod = _runs(world, theirs, "w", "3")
        limits = pod["spec"]["containers"][0]["resources"]["limits"]
        assert limits["cpu"] == "4", "3 CPUs are rounded to cores of 2 threads, as ever"
        assert [_label(world, node, names.THREADS_PER_CORE) for node in spare] == before


def test_pods_that_claim_somebody_elses_replica_set_keep_its_pods_off_no_node(
    world: World,
) -> None:
    with world.namespace("forger-uid") as own, world.namespace("victim-uid") as theirs:
        spare = world.nodes.names("spare")
        _runs(world, theirs, "w", "2")
        owner = _replica_set(world, theirs)
        with Tenant(world, own, owner) as forger:
            for node in spare * 2:
                pod = forger.forge(node, *NO_ROOM)
                meta = pod["metadata"]
                about = {"kind": "Pod", "namespace": own, "name": meta["name"], "uid": meta["uid"]}
                assert forger.tell(about, *NO_ROOM, node)
            until(
                lambda: any(
                    event["involvedObject"]["uid"] == owner["metadata"]["uid"]
                    for event in world.api.events(own, names.TOPOLOGY_REJECTED)
                ),
                "the forged rejections are known, and told where they were forged",
            )
            path = f"/apis/apps/v1/namespaces/{theirs}/deployments/w"
            world.api.merge(path, {"spec": {"replicas": 3}})
            until(
                lambda: len(world.counter.running(theirs, "w")) == 3,
                lambda: world.story(theirs),
            )
        assert not [life for life in world.counter.lives(theirs) if life.steered or life.held_once]
        assert world.api.events(theirs, names.TOPOLOGY_REJECTED) == []


def test_events_about_another_namespaces_pods_and_nodes_are_nothing_to_anybody(
    world: World,
) -> None:
    with world.namespace("forger-events") as own, world.namespace("victim-events") as theirs:
        node = world.nodes.names("spare")[0]
        pod = _runs(world, theirs, "w", "2")
        forger = Tenant(world, own, {"metadata": {"name": "x", "uid": "x"}})
        meta = pod["metadata"]
        about = {"kind": "Pod", "namespace": theirs, "name": meta["name"], "uid": meta["uid"]}
        for _ in range(5):
            forger.tell(about, *NO_ROOM, node)
            forger.tell({**about, "namespace": own}, *NO_ROOM, node)
        forger.tell({"kind": "Node", "name": node, "uid": node}, "Starting", "x", node)
        forger.tell({"kind": "Node", "name": node, "uid": node}, *NO_ROOM, node)
        path = f"/apis/apps/v1/namespaces/{theirs}/deployments/w"
        world.api.merge(path, {"spec": {"replicas": 2}})
        until(
            lambda: len(world.counter.running(theirs, "w")) == 2,
            lambda: world.story(theirs),
        )
        assert not [life for life in world.counter.lives(theirs) if life.steered or life.held_once]


def test_a_pod_with_a_node_name_is_rejected_alone(world: World) -> None:
    """Anybody may name a node in a pod, and have its kubelet refuse it: a real rejection."""
    with world.namespace("chooser") as own, world.namespace("victim-chosen") as theirs:
        node = world.nodes.names("spare")[0]
        for number in range(4):
            made = workloads.pod(own, f"odd-{number}", (), "46")
            made["metadata"]["labels"][names.ADMISSION] = names.DISABLED
            made["spec"] = {"nodeName": node, "containers": workloads.containers("46")}
            world.api.make(made)
        until(
            lambda: (
                [life.rejected for life in world.counter.lives(own)]
                == ["TopologyAffinityError"] * 4
            ),
            lambda: world.story(own),
        )
        _runs(world, theirs, "w", "2")
        assert not [life for life in world.counter.lives(theirs) if life.steered or life.held_once]


def test_thousands_of_events_and_odd_pods_end_neither_process(world: World) -> None:
    odd = {"metadata": {"name": "../../secrets", "uid": "x" * 300}}
    with world.namespace("noise") as own, Tenant(world, own, None) as forger:
        node = world.nodes.names("spare")[0]
        for number in range(200):
            about = {"kind": "Pod", "namespace": own, "name": f"web-{number}", "uid": f"u{number}"}
            forger.tell(about, NO_ROOM[0], "\x1b[2J\n" * 2000, node)
        for text in ("\x1b[2J", "x" * 4000, "requested 999999999999 cpus per core = 0"):
            forger.forge(node, MISALIGNED[0], text)
        last = forger.forge(node, *NO_ROOM)
        forger.adopt(last, odd)
        forger.forge(node, *NO_ROOM)  # what comes after is heeded as ever
        until(
            lambda: len(world.api.events(own, names.TOPOLOGY_REJECTED)) == 5,
            "each of these pods is told that nobody controls it, for no owner has such a uid",
        )
        assert world.webhook.alive
        assert world.leads("a")
        lines = [*world.controllers["a"].log().splitlines(), *world.webhook.log().splitlines()]
        assert all(line.isprintable() for line in lines)
