"""Node files: what a cluster's nodes are to be, as people write it (docs/pocket-cluster.md).

For: strict models. Names under `kubelet` are those of KubeletConfiguration, so that a real
node's settings can be pasted. Not for: what nodes do with them.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.managers import Managers
from evencore.domain.kubelet.refusals import StartError
from evencore.domain.quantity import parse_nanos
from evencore.nodefiles.machine import Plan, build
from evencore.nodefiles.settings import KubeletFile
from evencore.strict import Quantity, Strict, beside, checked

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

    sockets: Annotated[int, Field(ge=1, le=_MOST_NUMA)] = 1
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

    # These look only at fields above theirs, not at the whole: so they are told beside mistakes in
    # other fields, and not a round later.
    @field_validator("numa_nodes_per_socket")
    @classmethod
    def _sockets_divide(cls, count: int, info: ValidationInfo) -> int:
        cores, sockets = info.data.get("cores_per_socket"), info.data.get("sockets")
        if sockets and sockets * count > _MOST_NUMA:
            raise ValueError(f"must be at most {_MOST_NUMA // sockets} with {sockets} sockets")
        if cores and cores % count:
            raise ValueError(f"must divide coresPerSocket ({cores})")
        return count

    @field_validator("cores_per_l3")
    @classmethod
    def _numa_nodes_divide(cls, count: int | None, info: ValidationInfo) -> int | None:
        cores, numa = info.data.get("cores_per_socket"), info.data.get("numa_nodes_per_socket")
        if cores and numa and cores // numa % (count or 1):
            raise ValueError(f"must divide the {cores // numa} cores of a NUMA node")
        return count

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


class _Named(BaseModel):
    """What a node or several are called, whatever else is said of them."""

    model_config = ConfigDict(from_attributes=True)

    name: Name
    count: Annotated[int, Field(ge=1, le=10_000)] = 1

    def names(self) -> list[str]:
        """Give the names of the nodes: the name itself for one, numbered from 1 for several."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(1, self.count + 1)]


class NodeFile(_Named, Strict):
    """Some nodes of one kind."""

    machine: MachineFile = MachineFile()
    kubelet: KubeletFile = KubeletFile()
    delays: Delays = Delays()
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[Taint] = Field(default_factory=list)

    @field_validator("kubelet")
    @classmethod
    def _starts(cls, kubelet: KubeletFile, info: ValidationInfo) -> KubeletFile:
        """Refuse settings with which it would not start on this machine, if that is known."""
        machine = info.data.get("machine")
        problems = _why_not(kubelet, machine.build()) if machine else []
        if problems:
            raise ValueError("; ".join(problems))
        return kubelet

    def config(self) -> Config:
        """Give the settings that decide about admission."""
        return self.kubelet.config(len(self.machine.build().numas))


def _why_not(kubelet: KubeletFile, machine: Machine) -> list[str]:
    """Tell why a kubelet would not start on a machine."""
    config = kubelet.config(len(machine.numas))
    problems = []
    if unknown := kubelet.reserved_system_cpus & ~machine.cpus:
        problems.append(f"reservedSystemCPUs has CPUs that are not there: {cpuset.show(unknown)}")
    if config.kept_millis > machine.cpus.bit_count() * 1000:
        problems.append("more CPU is reserved than there is")
    problems += [
        f"reservedMemory has a NUMA node that is not there: {one.numa_node}"
        for one in kubelet.reserved_memory
        if one.numa_node not in machine.numas
    ]
    if kubelet.static and not problems:  # the managers take for granted that these are right
        try:
            Managers(machine, config)
        except StartError as error:
            problems.append(f"the kubelet would not start: {error}")
    return problems


def _names_differ(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Refuse names that are given twice: beside what else is wrong, in these nodes and others."""
    names = [name for item in value for name in _names(item)] if isinstance(value, list) else []
    twice = [name for name, times in sorted(Counter(names).items()) if times > 1]
    problems = [f"these names are given more than once: {', '.join(twice)}"] if twice else []
    if value == []:
        problems = ["at least one node is needed"]
    return beside(problems, value, validate)


def _names(item: object) -> list[str]:
    try:
        return _Named.model_validate(item).names()
    except ValidationError:
        return []  # nothing to compare; what is wrong with it is told for itself


Nodes = Annotated[list[NodeFile], WrapValidator(_names_differ)]


class NodesFile(Strict):
    """A whole node file."""

    nodes: Nodes


def nodes_file(value: object, source: str = "nodes") -> NodesFile:
    """Check the content of a node file. Raises FileError with every problem."""
    return checked(NodesFile, value, source)
