"""The QoS class of a pod: ComputePodQOS of pkg/apis/core/v1/helper/qos/qos.go."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evencore.domain.resources import PodAmounts


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
    every_limit = True
    cpu_requests = cpu_limits = memory_requests = memory_limits = 0
    for cpu, memory in levels:
        every_limit = every_limit and bool(cpu.limit and memory.limit)
        cpu_requests += cpu.request or 0
        cpu_limits += cpu.limit or 0
        memory_requests += memory.request or 0
        memory_limits += memory.limit or 0
    if not (cpu_requests or cpu_limits or memory_requests or memory_limits):
        return QoS.BEST_EFFORT
    if every_limit and cpu_requests == cpu_limits and memory_requests == memory_limits:
        return QoS.GUARANTEED
    return QoS.BURSTABLE
