"""CPU and memory of containers and pods, as Kubernetes reads them after its defaulting.

Amounts are integers: thousandths of a CPU, thousandths of a byte.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from evencore.domain.quantity import QuantityError, parse_millis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evencore.domain.views import Container, PodSpec, Resources

CPU = "cpu"
MEMORY = "memory"


class Kind(Enum):
    """What a container is to its pod."""

    APP = "container"
    INIT = "init container"
    SIDECAR = "sidecar"

    __hash__ = object.__hash__  # kinds are parts of keys, and Enum's own takes as long as the rest


class Amount(Struct, frozen=True, gc=False):
    """Request and limit of one resource in thousandths; None = not set."""

    request: int | None
    limit: int | None


class ContainerAmounts(Struct, frozen=True, gc=False):
    """What one container asks for, after defaulting, and where it stands in the pod."""

    name: str
    kind: Kind
    position: int  # in spec.containers or spec.initContainers
    cpu: Amount
    memory: Amount


class PodAmounts(Struct, frozen=True, gc=False):
    """What a pod asks for: every container, and the pod level if it is set."""

    containers: tuple[ContainerAmounts, ...]
    pod_level: tuple[Amount, Amount] | None  # cpu, memory
    problems: tuple[str, ...]  # values that are no quantities, each with its place


def read_amounts(spec: PodSpec) -> PodAmounts:
    """Read CPU and memory of a pod as they are after the API server's defaulting.

    Kubernetes rules: a missing request takes the value of the limit (SetDefaults_Pod); a missing
    pod-level request is the sum of the containers' requests, else the pod-level limit
    (setDefaultPodRequests). An empty `spec.resources` counts as not set (docs/decisions/0003).
    """
    problems: list[str] = []
    containers = [
        _container(container, Kind.APP, index, problems)
        for index, container in enumerate(spec.containers or ())
    ]
    for index, container in enumerate(spec.init_containers or ()):
        kind = Kind.SIDECAR if container.restart_policy == "Always" else Kind.INIT
        containers.append(_container(container, kind, index, problems))
    pod_level = None
    if spec.resources is not None and (spec.resources.requests or spec.resources.limits):
        pod_level = (
            _pod_level(spec.resources, CPU, containers, lambda c: c.cpu, problems),
            _pod_level(spec.resources, MEMORY, containers, lambda c: c.memory, problems),
        )
    return PodAmounts(tuple(containers), pod_level, tuple(problems))


def pod_total(parts: Iterable[tuple[Kind, int]]) -> int:
    """Add up what the containers of a pod need at most at one time.

    Kubernetes rule (AggregateContainerRequests, and podGuaranteedCPUs of the kubelet): app
    containers and sidecars run together; an init container runs beside the sidecars before it.
    Init containers and sidecars must come in their order.
    """
    running = sidecars = peak = 0
    for kind, amount in parts:
        if kind is Kind.INIT:
            peak = max(peak, sidecars + amount)
            continue
        running += amount
        if kind is Kind.SIDECAR:
            sidecars += amount
    return max(running, peak)


def _container(
    container: Container, kind: Kind, position: int, problems: list[str]
) -> ContainerAmounts:
    resources = container.resources
    if resources is None:
        return ContainerAmounts(container.name, kind, position, _NOT_SET, _NOT_SET)
    try:
        cpu, memory = _amounts(resources)
    except QuantityError:
        _tell(resources, (CPU, MEMORY), f"container {container.name}: ", problems)
        cpu = memory = _NOT_SET
    return ContainerAmounts(container.name, kind, position, cpu, memory)


_NOT_SET = Amount(None, None)
_NOTHING: Mapping[str, object] = MappingProxyType({})
_MISSING = object()


def _amounts(resources: Resources) -> tuple[Amount, Amount]:
    requests, limits = resources.requests or _NOTHING, resources.limits or _NOTHING
    cpu, most_cpu = requests.get(CPU, _MISSING), limits.get(CPU, _MISSING)
    memory, most_memory = requests.get(MEMORY, _MISSING), limits.get(MEMORY, _MISSING)
    if type(cpu) is type(most_cpu) is type(memory) is type(most_memory) is str:
        return _amounts_of_text(cpu, most_cpu, memory, most_memory)
    return _amount(cpu, most_cpu), _amount(memory, most_memory)


# The containers of a cluster repeat some hundreds. Only for text: 1, 1.0 and True are one key.
@lru_cache(maxsize=4096)
def _amounts_of_text(
    cpu: str, most_cpu: str, memory: str, most_memory: str
) -> tuple[Amount, Amount]:
    return _amount(cpu, most_cpu), _amount(memory, most_memory)


def _amount(request: object, limit: object) -> Amount:
    most = None if limit is _MISSING else parse_millis(limit)
    return Amount(most if request is _MISSING else parse_millis(request), most)


def _tell(resources: Resources, wanted: tuple[str, ...], where: str, problems: list[str]) -> None:
    """Add a sentence for each value that is no quantity; one where request and limit share it."""
    for resource in wanted:
        told = set()
        for part, values in (("limits", resources.limits), ("requests", resources.requests)):
            try:
                if values is not None and resource in values:
                    parse_millis(values[resource])
            except QuantityError as error:
                if str(error) not in told:
                    problems.append(f"{where}{part}.{resource} {error}")
                told.add(str(error))


def _pod_level(
    resources: Resources,
    resource: str,
    containers: list[ContainerAmounts],
    of: Callable[[ContainerAmounts], Amount],
    problems: list[str],
) -> Amount:
    """Default a pod-level request: the containers' sum goes before the pod-level limit."""
    try:
        cpu, memory = _amounts(resources)
    except QuantityError:
        _tell(resources, (resource,), "spec.resources: ", problems)
        return _NOT_SET
    amount = cpu if resource == CPU else memory
    if resources.requests is not None and resource in resources.requests:
        return amount
    asked = [(container.kind, of(container).request) for container in containers]
    if all(request is None for _, request in asked):
        return amount
    return Amount(pod_total((kind, request or 0) for kind, request in asked), amount.limit)
