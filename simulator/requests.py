"""What pods ask for and what nodes have, in integers: thousandths of a CPU, whole units else.

Kubernetes rules: resourcehelper.PodRequests (containers that run together are added up, an init
container counts as far as it is larger, pod-level requests go before both, overhead on top).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.quantity import parse_nanos
from evencore.domain.resources import Kind, pod_total
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.objects import Object

Amounts = dict[str, int]
CPU: Final = "cpu"
MEMORY: Final = "memory"


def read(amounts: Any) -> Amounts:  # noqa: ANN401  a resource list, or nothing
    """Read a resource list."""
    return {name: _amount(name == CPU, str(value)) for name, value in (amounts or {}).items()}


@lru_cache(maxsize=4096)
def _amount(cpu: bool, text: str) -> int:  # noqa: FBT001  part of the key of the cache
    return -(-parse_nanos(text) // (10**6 if cpu else 10**9))


def kinds(spec: Object) -> Iterator[tuple[Kind, Object]]:
    """Iterate over init containers and sidecars in their order, then the app containers."""
    for container in spec.get("initContainers") or ():
        yield Kind.SIDECAR if container.get("restartPolicy") == "Always" else Kind.INIT, container
    for container in spec.get("containers") or ():
        yield Kind.APP, container


def of_pod(spec: Object) -> Amounts:
    """Tell what a pod asks for in all."""
    parts = [(kind, read(dig(one, "resources", "requests"))) for kind, one in kinds(spec)]
    names = {name: None for _, amounts in parts for name in amounts}
    total = {name: pod_total((kind, got.get(name, 0)) for kind, got in parts) for name in names}
    total.update(read(dig(spec, "resources", "requests")))
    for name, extra in read(spec.get("overhead")).items():
        total[name] = total.get(name, 0) + extra
    return total
