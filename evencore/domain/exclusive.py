"""Exclusive CPUs that pods ask for: who has some, or will, on a node.

Kubelet rule (cm/cpumanager/policy_static.go, guaranteedCPUs): containers of Guaranteed pods with a
whole number of CPUs; none in pods with pod-level resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import pod_total, read_amounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.domain.views import PodView


class Exclusive(NamedTuple):
    """The exclusive CPUs of one pod that has not ended."""

    node: str  # empty: not bound yet
    containers: tuple[int, ...]  # of each container that asks for some
    total: int  # what the kubelet gives out at one time for the pod
    running: bool  # False: its kubelet may still refuse it


def exclusive(pod: PodView) -> Exclusive | None:
    """Return the exclusive CPUs of a pod; None if it has ended or asks for none."""
    phase = pod.status.phase if pod.status else None
    if pod.spec is None or phase in ("Succeeded", "Failed"):
        return None
    amounts = read_amounts(pod.spec)
    if amounts.pod_level is not None or amounts.problems:
        return None
    if qos_class(amounts) is not QoS.GUARANTEED:
        return None
    whole = [
        (container.kind, millis // 1000)
        for container in amounts.containers
        if (millis := container.cpu.request or 0) and millis % 1000 == 0
    ]
    if not whole:
        return None
    containers = tuple(cpus for _, cpus in whole)
    return Exclusive(pod.spec.node_name or "", containers, pod_total(whole), phase == "Running")


class InUse(NamedTuple):
    """The exclusive CPUs of all pods on one node."""

    pods: int = 0  # how many have some
    cpus: int = 0
    # Of those that run: proof that the kubelet admitted as much.
    containers: frozenset[int] = frozenset()
    largest_pod: int = 0

    def also(self, pod: Exclusive) -> InUse:
        """Count one more pod."""
        return InUse(
            self.pods + 1,
            self.cpus + pod.total,
            self.containers.union(pod.containers) if pod.running else self.containers,
            max(self.largest_pod, pod.total) if pod.running else self.largest_pod,
        )


NONE = InUse()


def in_use(pods: Iterable[Exclusive]) -> dict[str, InUse]:
    """Add up what is in use on each node."""
    found: dict[str, InUse] = {}
    for pod in pods:
        if pod.node:
            found[pod.node] = found.get(pod.node, NONE).also(pod)
    return found
