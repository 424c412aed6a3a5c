"""Node predicates: the requests of all pods together must fit the node.

Kubernetes: lifecycle/predicate.go. The first resource that fails is named, in the order pods,
cpu, memory. CPU is told in thousandths, memory in bytes; capacity is what is allocatable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evencore.domain.kubelet.refusals import Refusal

if TYPE_CHECKING:
    from evencore.domain.kubelet.pod import Pod


@dataclass(frozen=True, slots=True)
class Allocatable:
    """What a node has for pods."""

    pods: int
    cpu: int  # thousandths
    memory: int | None  # bytes; None: never short


@dataclass(slots=True)
class Used:
    """What the pods on a node ask for together, in the units of Allocatable."""

    pods: int = 0
    cpu: int = 0
    memory: int = 0

    def add(self, pod: Pod, sign: int = 1) -> None:
        """Count a pod in, or out again with sign -1."""
        self.pods += sign
        self.cpu += sign * pod.cpu
        self.memory += sign * _bytes(pod)


def check(pod: Pod, used: Used, have: Allocatable) -> None:
    """Raise Refusal if a pod does not fit beside what is used."""
    if used.pods + 1 > have.pods:
        raise _out_of("pods", 1, used.pods, have.pods)
    if pod.cpu and pod.cpu > have.cpu - used.cpu:
        raise _out_of("cpu", pod.cpu, used.cpu, have.cpu)
    asked = _bytes(pod)
    if have.memory is not None and asked and asked > have.memory - used.memory:
        raise _out_of("memory", asked, used.memory, have.memory)


def _bytes(pod: Pod) -> int:
    return -(-pod.memory // 1000)


def _out_of(resource: str, requested: int, used: int, capacity: int) -> Refusal:
    return Refusal(
        f"OutOf{resource}",
        f"Node didn't have enough resource: {resource}, requested: {requested}, "
        f"used: {used}, capacity: {capacity}",
    )
