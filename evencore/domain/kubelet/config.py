"""The settings of a kubelet that decide about admission, with the names of KubeletConfiguration.

Kubernetes: cm/cpumanager/policy_options.go, cm/topologymanager/policy_options.go. Which settings
a kubelet refuses is in `start`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evencore.domain.kubelet.merge import NONE

if TYPE_CHECKING:
    from evencore.domain.kubelet.cpuset import CPUSet

FULL_PCPUS_ONLY: Final = "full-pcpus-only"
DISTRIBUTE_ACROSS_NUMA: Final = "distribute-cpus-across-numa"
DISTRIBUTE_ACROSS_CORES: Final = "distribute-cpus-across-cores"
ALIGN_BY_SOCKET: Final = "align-by-socket"
STRICT_RESERVATION: Final = "strict-cpu-reservation"
PREFER_L3: Final = "prefer-align-cpus-by-uncorecache"

MOST_NUMA_NODES: Final = 8
"""max-allowable-numa-nodes when it is not set, and the least that it may be set to."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one kubelet with the static CPU manager."""

    topology_policy: str = NONE
    pod_scope: bool = False  # topologyManagerScope: pod
    cpu_options: frozenset[str] = frozenset()  # those that are "true"
    closest_numa: bool = False  # prefer-closest-numa-nodes
    most_numa_nodes: int = MOST_NUMA_NODES  # max-allowable-numa-nodes
    reserved_cpus: CPUSet = 0  # reservedSystemCPUs
    reserved_millis: int = 0  # or: CPU of systemReserved and kubeReserved together
    reserved_memory: tuple[int, ...] | None = None  # bytes per NUMA node; None: policy None
    alpha_options: bool = False  # gate CPUManagerPolicyAlphaOptions
    pod_level_managers: bool = False  # gate PodLevelResourceManagers
    max_pods: int = 110

    @property
    def kept_millis(self) -> int:
        """CPU kept from pods, in thousandths; reservedSystemCPUs go before an amount."""
        return self.reserved_cpus.bit_count() * 1000 or self.reserved_millis
