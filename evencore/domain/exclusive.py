"""Exclusive CPUs that pods ask for: who has some, or will, on a node.

Kubelet rule (cm/cpumanager/policy_static.go, guaranteedCPUs): containers of Guaranteed pods with a
whole number of CPUs; none in pods with pod-level resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain import names
from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import pod_total, read_amounts
from evencore.domain.views import PodStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.domain.views import PodSpec, PodView


class Exclusive(NamedTuple):
    """The exclusive CPUs of one pod that has not ended."""

    node: str  # empty: not bound yet
    containers: tuple[int, ...]  # of each container that asks for some
    total: int  # what the kubelet gives out at one time for the pod
    running: bool  # False: its kubelet may still refuse it
    astray: bool = False  # it keeps off the very node that it is bound to
    settled: bool = False  # astray, and admitted: its kubelet refuses those that meet the label


def exclusive(pod: PodView) -> Exclusive | None:
    """Return the exclusive CPUs of a pod; None if it has ended or asks for none.

    One that is astray is told of without any, too: Guaranteed pods of fractions are kept off nodes.
    """
    status = pod.status or PodStatus()
    phase = status.phase
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
    astray = _astray(pod.spec)
    if not whole and not astray:
        return None
    return Exclusive(
        pod.spec.node_name or "",
        tuple(cpus for _, cpus in whole),
        pod_total(whole),
        phase == "Running",
        astray,
        astray and bool(phase == "Running" or status.start_time),
    )


def _astray(spec: PodSpec) -> bool:
    """Whether the pod could not be where it is if that node had the label with its name.

    A node that was deleted and made anew has none for a moment, and takes in what keeps off it.
    """
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    matching = [term for term in terms if not term.empty]  # empty ones match no node
    if not spec.node_name or not matching:
        return False
    label = names.node_label_value(spec.node_name)
    return all(
        any(
            rule.key == names.NODE and rule.operator == "NotIn" and label in (rule.values or ())
            for rule in term.match_expressions or ()
        )
        for term in matching
    )


class InUse(NamedTuple):
    """The exclusive CPUs of all pods on one node."""

    pods: int = 0  # how many have some
    cpus: int = 0
    # Of those that run: proof that the kubelet admitted as much.
    containers: frozenset[int] = frozenset()
    largest_pod: int = 0
    astray: int = 0  # pods that keep off this very node, and would die of the label with its name
    settled: int = 0  # those of them that are there to stay

    def also(self, pod: Exclusive) -> InUse:
        """Count one more pod."""
        return InUse(
            self.pods + bool(pod.containers),
            self.cpus + pod.total,
            self.containers.union(pod.containers) if pod.running else self.containers,
            max(self.largest_pod, pod.total) if pod.running else self.largest_pod,
            self.astray + pod.astray,
            self.settled + pod.settled,
        )


NONE = InUse()


def in_use(pods: Iterable[Exclusive]) -> dict[str, InUse]:
    """Add up what is in use on each node."""
    found: dict[str, InUse] = {}
    for pod in pods:
        if pod.node:
            found[pod.node] = found.get(pod.node, NONE).also(pod)
    return found
