"""A pod as its kubelet reads it: what decides about exclusive CPUs, memory, and whether it fits.

Made once from what the author wrote (`pod_of`). CPU in thousandths, memory in thousandths of a
byte; both are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import Kind, pod_total

if TYPE_CHECKING:
    from evencore.domain.resources import Amount, ContainerAmounts, PodAmounts


@dataclass(frozen=True, slots=True)
class Container:
    """One container; `memory` None: it asks for none."""

    name: str
    kind: Kind
    cpu: int
    memory: int | None
    guaranteed: bool  # by itself: cpu and memory each request == limit, and not zero

    @property
    def whole_cpus(self) -> int:
        """The CPUs asked for if they are a whole number, else 0."""
        return 0 if self.cpu % 1000 else self.cpu // 1000


@dataclass(frozen=True, slots=True)
class PodLevel:
    """spec.resources.requests, after defaults."""

    cpu: int
    memory: int | None


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod; `containers`: init containers and sidecars in their order, then the others."""

    uid: str
    guaranteed: bool  # its QoS class
    containers: tuple[Container, ...]
    pod_level: PodLevel | None
    cpu: int  # what counts against the node
    memory: int


def pod_of(uid: str, amounts: PodAmounts, qos: QoS | None = None) -> Pod:
    """Make the pod. `qos`: status.qosClass, which wins where it is set (qos.GetPodQOS)."""
    ordered = sorted(amounts.containers, key=lambda one: one.kind is Kind.APP)  # stable
    cpu = pod_total((one.kind, one.cpu.request or 0) for one in ordered)
    memory = pod_total((one.kind, one.memory.request or 0) for one in ordered)
    level = None
    if amounts.pod_level is not None:
        of_cpu, of_memory = (amount.request for amount in amounts.pod_level)
        level = PodLevel(of_cpu or 0, of_memory)
        cpu = cpu if of_cpu is None else of_cpu
        memory = memory if of_memory is None else of_memory
    return Pod(
        uid=uid,
        guaranteed=(qos or qos_class(amounts)) is QoS.GUARANTEED,
        containers=tuple(_container(one) for one in ordered),
        pod_level=level,
        cpu=cpu,
        memory=memory,
    )


def _container(amounts: ContainerAmounts) -> Container:
    return Container(
        name=amounts.name,
        kind=amounts.kind,
        cpu=amounts.cpu.request or 0,
        memory=amounts.memory.request,
        guaranteed=_fixed(amounts.cpu) and _fixed(amounts.memory),
    )


def _fixed(amount: Amount) -> bool:
    """Tell whether request and limit are one amount (IsContainerEquivalentQOSGuaranteed)."""
    return bool(amount.limit) and amount.request == amount.limit
