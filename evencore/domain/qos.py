"""The QoS class of a pod: ComputePodQOS of pkg/apis/core/v1/helper/qos/qos.go."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evencore.domain.resources import Amount, PodAmounts


class QoS(Enum):
    """The three classes; only Guaranteed pods get exclusive CPUs."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


def qos_class(amounts: PodAmounts) -> QoS:
    """Compute the class exactly as Kubernetes does after its defaulting.

    Only cpu and memory count, and only amounts above zero. Sums are compared, not containers.
    With pod-level resources the containers do not count.
    """
    if amounts.pod_level is not None:
        levels = [amounts.pod_level]
    else:
        levels = [(container.cpu, container.memory) for container in amounts.containers]
    every_limit = all(cpu.limit and memory.limit for cpu, memory in levels)
    cpu_request, cpu_limit = _sums([cpu for cpu, _ in levels])
    memory_request, memory_limit = _sums([memory for _, memory in levels])
    if not (cpu_request or cpu_limit or memory_request or memory_limit):
        return QoS.BEST_EFFORT
    if every_limit and cpu_request == cpu_limit and memory_request == memory_limit:
        return QoS.GUARANTEED
    return QoS.BURSTABLE


def _sums(amounts: list[Amount]) -> tuple[int, int]:
    return (
        sum(amount.request or 0 for amount in amounts),
        sum(amount.limit or 0 for amount in amounts),
    )
