"""Node files: what a cluster's nodes are to be, as people write it (docs/pocket-cluster.md).

For: strict models. Names under `kubelet` are those of KubeletConfiguration, so that a real
node's settings can be pasted. Not for: what nodes do with them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from simulator.kubelet import machine
from simulator.kubelet.machine import CPUs, Machine
from simulator.kubelet.static import Policies
from simulator.strict import Quantity, Strict, checked


def _cpus(value: object) -> CPUs:
    if isinstance(value, frozenset):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # a single CPU needs no quotes
    if not isinstance(value, str):
        raise ValueError("write CPUs as the kubelet does, such as 0-1,24")  # noqa: TRY004  pydantic wants ValueError
    return machine.parse_cpus(value)


def _written(cpus: CPUs) -> str:
    return ",".join(map(str, sorted(cpus)))


def _dns_name(value: object) -> object:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("must be a name in small letters, digits, - and ., such as node-1")
    return value


_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]{0,200}[a-z0-9])?")
Name = Annotated[str, BeforeValidator(_dns_name)]
CPUList = Annotated[CPUs, BeforeValidator(_cpus), PlainSerializer(_written)]
Some = Annotated[int, Field(ge=1, le=256)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
_MOST_NUMA = 8


class MachineFile(Strict):
    """The hardware of a node."""

    sockets: Some = 1
    cores_per_socket: Some = 8
    threads_per_core: Literal[1, 2, 4, 8] = 2
    numa_nodes_per_socket: Some = 1
    # interleaved: neighbouring cores in different NUMA nodes (even and odd); blocked: in one.
    numbering: Literal["interleaved", "blocked"] = "interleaved"
    # apart: thread 1 of core 0 comes after thread 0 of the last core; adjacent: it is CPU 1.
    siblings: Literal["apart", "adjacent"] = "apart"
    memory: Quantity = "64Gi"

    @model_validator(mode="after")
    def _divides(self) -> MachineFile:
        if self.cores_per_socket % self.numa_nodes_per_socket:
            raise ValueError(
                f"coresPerSocket ({self.cores_per_socket}) must be a multiple of "
                f"numaNodesPerSocket ({self.numa_nodes_per_socket})"
            )
        if self.sockets * self.numa_nodes_per_socket > _MOST_NUMA:
            raise ValueError(f"more than {_MOST_NUMA} NUMA nodes: kubelets refuse to start there")
        return self

    def build(self) -> Machine:
        """Make the machine."""
        return machine.build(
            cores=self.sockets * self.cores_per_socket,
            threads_per_core=self.threads_per_core,
            numa_nodes=self.sockets * self.numa_nodes_per_socket,
            interleaved=self.numbering == "interleaved",
            adjacent=self.siblings == "adjacent",
        )


class CpuManagerOptions(Strict):
    """KubeletConfiguration.cpuManagerPolicyOptions."""

    full_pcpus_only: bool = Field(default=False, alias="full-pcpus-only")


class KubeletFile(Strict):
    """The settings of a kubelet, with the names and defaults of KubeletConfiguration."""

    cpu_manager_policy: Literal["none", "static"] = "none"
    cpu_manager_policy_options: CpuManagerOptions = CpuManagerOptions()
    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = (
        "none"
    )
    topology_manager_scope: Literal["container", "pod"] = "container"
    reserved_system_cpus: CPUList = Field(default=frozenset(), alias="reservedSystemCPUs")
    max_pods: Annotated[int, Field(ge=1, le=10_000)] = 110

    @model_validator(mode="after")
    def _starts(self) -> KubeletFile:
        """Refuse what a kubelet refuses to start with."""
        if self.cpu_manager_policy == "static" and not self.reserved_system_cpus:
            raise ValueError("cpuManagerPolicy static needs reservedSystemCPUs, such as 0-1")
        if self.cpu_manager_policy != "static" and self.cpu_manager_policy_options.full_pcpus_only:
            raise ValueError("full-pcpus-only needs cpuManagerPolicy static")
        return self

    def policies(self) -> Policies:
        """Give the settings that decide about CPUs."""
        return Policies(
            static=self.cpu_manager_policy == "static",
            full_cores=self.cpu_manager_policy_options.full_pcpus_only,
            topology=self.topology_manager_policy,
            pod_scope=self.topology_manager_scope == "pod",
            reserved=self.reserved_system_cpus,
        )


class Delays(Strict):
    """How long things take on a node, in seconds."""

    admit: Seconds = 0.01  # from the binding to the kubelet's verdict
    start: Seconds = 0.5  # from the verdict to Running and ready
    stop: Seconds = 0.5  # from the delete to the end of all containers
    topology: Seconds = 10.0  # from a change of CPUs to its NodeResourceTopology


class Taint(Strict):
    """One taint of a node."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class NodeFile(Strict):
    """Some nodes of one kind."""

    name: Name
    count: Annotated[int, Field(ge=1, le=10_000)] = 1
    machine: MachineFile = MachineFile()
    kubelet: KubeletFile = KubeletFile()
    delays: Delays = Delays()
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[Taint] = Field(default_factory=list)

    @model_validator(mode="after")
    def _reserves_what_is_there(self) -> NodeFile:
        unknown = self.kubelet.reserved_system_cpus - self.machine.build().cpus
        if unknown:
            raise ValueError(f"reservedSystemCPUs has CPUs that are not there: {_written(unknown)}")
        return self

    def names(self) -> list[str]:
        """Give the names of the nodes: the name itself for one, numbered from 1 for several."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(1, self.count + 1)]


class NodesFile(Strict):
    """A whole node file."""

    nodes: list[NodeFile]

    @model_validator(mode="after")
    def _names_differ(self) -> NodesFile:
        if not self.nodes:
            raise ValueError("at least one node is needed under nodes")
        counted = Counter(name for one in self.nodes for name in one.names())
        twice = sorted(name for name, times in counted.items() if times > 1)
        if twice:
            raise ValueError(f"these names are given more than once: {', '.join(twice)}")
        return self


def nodes_file(value: object, source: str = "nodes") -> NodesFile:
    """Check the content of a node file. Raises FileError with every problem."""
    return checked(NodesFile, value, source)
