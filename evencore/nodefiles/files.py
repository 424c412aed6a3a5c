"""Node files: what a cluster's nodes are to be, as people write it (docs/pocket-cluster.md).

For: strict models. Names under `kubelet` are those of KubeletConfiguration, so that a real
node's settings can be pasted. Not for: what nodes do with them.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.managers import Managers
from evencore.domain.kubelet.refusals import StartError
from evencore.domain.quantity import parse_nanos
from evencore.nodefiles.machine import Plan, build
from evencore.nodefiles.settings import KubeletFile
from evencore.strict import Quantity, Strict, checked

if TYPE_CHECKING:
    from evencore.domain.kubelet.config import Config
    from evencore.domain.kubelet.machine import Machine


def _dns_name(value: object) -> object:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError("must be a name in small letters, digits, - and ., such as node-1")
    return value


_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]{0,200}[a-z0-9])?")
Name = Annotated[str, BeforeValidator(_dns_name)]
Some = Annotated[int, Field(ge=1, le=256)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
_MOST_NUMA = 16  # hints look at all sets of them


class MachineFile(Strict):
    """The hardware of a node."""

    sockets: Some = 1
    cores_per_socket: Some = 8
    threads_per_core: Literal[1, 2, 4, 8] = 2
    numa_nodes_per_socket: Some = 1
    cores_per_l3: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, alias="coresPerL3"
    )  # none: one L3 cache for each NUMA node
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
        per_node = self.cores_per_socket // self.numa_nodes_per_socket
        if per_node % (self.cores_per_l3 or 1):
            raise ValueError(
                f"the {per_node} cores of a NUMA node must be a multiple of "
                f"coresPerL3 ({self.cores_per_l3})"
            )
        if self.sockets * self.numa_nodes_per_socket > _MOST_NUMA:
            raise ValueError(f"more than {_MOST_NUMA} NUMA nodes are too many")
        return self

    def build(self) -> Machine:
        """Make the machine; all nodes of one kind share it."""
        return _built(
            Plan(
                sockets=self.sockets,
                numa_nodes=self.sockets * self.numa_nodes_per_socket,
                cores=self.sockets * self.cores_per_socket,
                threads_per_core=self.threads_per_core,
                interleaved=self.numbering == "interleaved",
                adjacent=self.siblings == "adjacent",
                cores_per_l3=self.cores_per_l3,
                memory=parse_nanos(self.memory) // 10**9,
            )
        )


_built = lru_cache(maxsize=64)(build)


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
    def _starts(self) -> NodeFile:
        """Refuse settings with which the kubelet would not start on this machine."""
        built = self.machine.build()
        unknown = self.kubelet.reserved_system_cpus & ~built.cpus
        if unknown:
            raise ValueError(
                f"reservedSystemCPUs has CPUs that are not there: {cpuset.show(unknown)}"
            )
        if self.config().kept_millis > built.cpus.bit_count() * 1000:
            raise ValueError("more CPU is reserved than there is")
        for one in self.kubelet.reserved_memory:
            if one.numa_node not in built.numas:
                raise ValueError(
                    f"reservedMemory has a NUMA node that is not there: {one.numa_node}"
                )
        if self.kubelet.static:
            try:
                Managers(built, self.config())
            except StartError as error:
                raise ValueError(f"the kubelet would not start: {error}") from error
        return self

    def config(self) -> Config:
        """Give the settings that decide about admission."""
        return self.kubelet.config(len(self.machine.build().numas))

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
