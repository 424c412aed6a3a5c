"""The settings of a kubelet in a node file, with the names and defaults of KubeletConfiguration.

For: strict models. Not for: which settings a kubelet would not start with; the model of it knows.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationInfo,
    field_validator,
    model_validator,
)

from evencore.domain.kubelet import config as names
from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import Config
from evencore.domain.kubelet.cpuset import CPUSet
from evencore.domain.quantity import parse_millis
from evencore.domain.text import one_of
from evencore.strict import Quantity, Strict


def _cpus(value: object) -> CPUSet:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # a single CPU needs no quotes
    if not isinstance(value, str):
        raise ValueError("write CPUs as the kubelet does, such as 0-1,24")  # noqa: TRY004  pydantic wants ValueError
    return cpuset.parse(value)


CPUList = Annotated[CPUSet, BeforeValidator(_cpus), PlainSerializer(cpuset.show)]
_RESERVATIONS: Final = ("reserved_system_cpus", "system_reserved", "kube_reserved")
Node = Annotated[int, Field(ge=0, le=255)]


class CpuManagerOptions(Strict):
    """KubeletConfiguration.cpuManagerPolicyOptions."""

    full_pcpus_only: bool = Field(default=False, alias=names.FULL_PCPUS_ONLY)
    distribute_across_numa: bool = Field(default=False, alias=names.DISTRIBUTE_ACROSS_NUMA)
    distribute_across_cores: bool = Field(default=False, alias=names.DISTRIBUTE_ACROSS_CORES)
    align_by_socket: bool = Field(default=False, alias=names.ALIGN_BY_SOCKET)
    strict_reservation: bool = Field(default=False, alias=names.STRICT_RESERVATION)
    prefer_l3: bool = Field(default=False, alias=names.PREFER_L3)

    def on(self) -> frozenset[str]:
        """Give the names of those that are true."""
        return frozenset(name for name, value in self.model_dump(by_alias=True).items() if value)


class TopologyManagerOptions(Strict):
    """KubeletConfiguration.topologyManagerPolicyOptions."""

    closest: bool = Field(default=False, alias="prefer-closest-numa-nodes")
    most_nodes: int = Field(default=names.MOST_NUMA_NODES, alias="max-allowable-numa-nodes")


class FeatureGates(Strict):
    """Those of KubeletConfiguration.featureGates that count here; both are off by default."""

    alpha_options: bool = Field(default=False, alias="CPUManagerPolicyAlphaOptions")
    pod_level_managers: bool = Field(default=False, alias="PodLevelResourceManagers")


class ReservedAmount(Strict):
    """KubeletConfiguration.systemReserved or kubeReserved."""

    cpu: Quantity = "0"


class ReservedLimits(Strict):
    """What is reserved of one NUMA node."""

    memory: Quantity


class ReservedMemory(Strict):
    """One entry of KubeletConfiguration.reservedMemory."""

    numa_node: Node
    limits: ReservedLimits


class KubeletFile(Strict):
    """The settings of a kubelet."""

    cpu_manager_policy_options: CpuManagerOptions = CpuManagerOptions()
    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = (
        "none"
    )
    topology_manager_scope: Literal["container", "pod"] = "container"
    topology_manager_policy_options: TopologyManagerOptions = TopologyManagerOptions()
    memory_manager_policy: Literal["None", "Static"] = "None"
    reserved_memory: list[ReservedMemory] = Field(default_factory=list)
    reserved_system_cpus: CPUList = Field(default=0, alias="reservedSystemCPUs")
    system_reserved: ReservedAmount = ReservedAmount()
    kube_reserved: ReservedAmount = ReservedAmount()
    feature_gates: FeatureGates = FeatureGates()
    max_pods: Annotated[int, Field(ge=1, le=10_000)] = 110
    # The last, so that its check sees the others, and is made even if some of them are wrong.
    cpu_manager_policy: Literal["none", "static"] = "none"

    @property
    def static(self) -> bool:
        """Whether the CPU manager gives out exclusive CPUs."""
        return self.cpu_manager_policy == "static"

    @model_validator(mode="before")
    @classmethod
    def _says_its_policy(cls, value: object) -> object:
        """Check the default as what is written; pydantic would not name it as people do."""
        return {"cpuManagerPolicy": "none", **value} if isinstance(value, dict) else value

    @field_validator("cpu_manager_policy")
    @classmethod
    def _starts(cls, policy: str, info: ValidationInfo) -> str:
        """Refuse what a kubelet refuses to start with, and what would have no effect."""
        given = info.data
        if policy == "none":
            options = given.get("cpu_manager_policy_options") or CpuManagerOptions()
            idle = sorted(options.on())
            if given.get("memory_manager_policy") == "Static":
                idle.append("memoryManagerPolicy Static")
            if idle:
                raise ValueError(f"must be static for {one_of(idle, 'and')}")
            return policy
        # One that is wrong, and so not given here, is a reservation all the same.
        cpus, *amounts = (given.get(name) for name in _RESERVATIONS)
        if cpus == 0 and all(one and not parse_millis(one.cpu) for one in amounts):
            raise ValueError(
                "must be none without reservedSystemCPUs, such as 0-1, "
                "and cpu in systemReserved or kubeReserved"
            )
        return policy

    def config(self, numa_nodes: int) -> Config:
        """Give the settings to the model, for a machine of so many NUMA nodes."""
        topology, gates = self.topology_manager_policy_options, self.feature_gates
        reserved = (self.system_reserved.cpu, self.kube_reserved.cpu)
        return Config(
            topology_policy=self.topology_manager_policy,
            pod_scope=self.topology_manager_scope == "pod",
            cpu_options=self.cpu_manager_policy_options.on(),
            closest_numa=topology.closest,
            most_numa_nodes=topology.most_nodes,
            reserved_cpus=self.reserved_system_cpus,
            reserved_millis=sum(map(parse_millis, reserved)),
            reserved_memory=self._reserved_memory(numa_nodes),
            alpha_options=gates.alpha_options,
            pod_level_managers=gates.pod_level_managers,
        )

    def _reserved_memory(self, numa_nodes: int) -> tuple[int, ...] | None:
        if self.memory_manager_policy == "None":
            return None
        found = [0] * numa_nodes
        for one in self.reserved_memory:
            if one.numa_node < numa_nodes:
                found[one.numa_node] += parse_millis(one.limits.memory) // 1000
        return tuple(found)
