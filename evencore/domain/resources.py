"""CPU and memory of containers and pods, as Kubernetes reads them after its defaulting.

Amounts are integers: thousandths of a CPU, thousandths of a byte.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from evencore.domain.quantity import QuantityError, parse_millis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evencore.domain.views import Container, PodSpec, Resources

CPU = "cpu"
MEMORY = "memory"


class Kind(Enum):
    """What a container is to its pod."""

    APP = "container"
    INIT = "init container"
    SIDECAR = "sidecar"


class Amount(NamedTuple):
    """Request and limit of one resource in thousandths; None = not set."""

    request: int | None
    limit: int | None


class ContainerAmounts(NamedTuple):
    """What one container asks for, after defaulting, and where it stands in the pod."""

    name: str
    kind: Kind
    position: int  # in spec.containers or spec.initContainers
    cpu: Amount
    memory: Amount


class PodAmounts(NamedTuple):
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
            peak = max(peak, sidecars)
    return max(running, peak)


def _container(
    container: Container, kind: Kind, index: int, problems: list[str]
) -> ContainerAmounts:
    resources = container.resources
    if resources is None:
        return ContainerAmounts(container.name, kind, index, _NOT_SET, _NOT_SET)
    return ContainerAmounts(
        container.name,
        kind,
        index,
        _amount(resources, CPU, container.name, problems),
        _amount(resources, MEMORY, container.name, problems),
    )


_NOT_SET = Amount(None, None)


def _amount(resources: Resources, resource: str, name: str, problems: list[str]) -> Amount:
    try:
        limit = _value(resources.limits, resource)
        request = _value(resources.requests, resource)
    except QuantityError:
        return _tell(resources, resource, f"container {name}: ", problems)
    return Amount(limit if request is None else request, limit)


def _value(values: dict[str, Any] | None, resource: str) -> int | None:
    if values is None or resource not in values:
        return None
    return parse_millis(values[resource])


def _tell(resources: Resources, resource: str, where: str, problems: list[str]) -> Amount:
    """Add a sentence for each value that is no quantity."""
    for part, values in (("limits", resources.limits), ("requests", resources.requests)):
        try:
            _value(values, resource)
        except QuantityError as error:
            problems.append(f"{where}{part}.{resource} {error}")
    return _NOT_SET


def _pod_level(
    resources: Resources,
    resource: str,
    containers: list[ContainerAmounts],
    of: Callable[[ContainerAmounts], Amount],
    problems: list[str],
) -> Amount:
    try:
        limit = _value(resources.limits, resource)
        request = _value(resources.requests, resource)
    except QuantityError:
        return _tell(resources, resource, "spec.resources: ", problems)
    if request is None:
        asked = [(c.kind, of(c).request) for c in containers]
        if any(amount is not None for _, amount in asked):
            request = pod_total((kind, amount or 0) for kind, amount in asked)
        else:
            request = limit
    return Amount(request, limit)
