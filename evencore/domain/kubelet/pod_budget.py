"""A pod's own amount must leave something for those of its containers that share it.

Kubernetes: validatePodScopeResources of cm/cpumanager/policy_static.go and of
cm/memorymanager/policy_static.go (gate PodLevelResourceManagers, scope pod).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evencore.domain.kubelet.refusals import EmptyPodSharedPool
from evencore.domain.resources import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable


class Budget(NamedTuple):
    """The words of one manager."""

    exclusive: str  # "cpu"
    unit: str  # "cpus"
    of: str  # what stands before the unit when an init container is too large


CPU: Final = Budget("cpu", "cpus", "cpus")
MEMORY: Final = Budget("memory", "memory", "of memory")


def check_budget(parts: Iterable[tuple[Kind, int]], total: int, words: Budget) -> None:
    """Refuse a pod whose exclusive containers leave nothing. Raises EmptyPodSharedPool.

    `parts`: what each container gets for itself (0: it shares), in the order of the pod.
    """
    long_running, sharing = 0, False
    for kind, exclusive in parts:
        if kind is not Kind.INIT:
            long_running += exclusive
            sharing = sharing or not exclusive
        elif exclusive and exclusive > total - long_running:
            raise EmptyPodSharedPool(
                f"pod rejected, largest exclusive init container requests {exclusive} {words.of}, "
                f"but only {total - long_running} available"
            )
        elif not exclusive and long_running >= total:
            raise EmptyPodSharedPool(
                "pod rejected, pod has shared init containers but no "
                f"{words.unit} available for them"
            )
    if sharing and long_running >= total:
        raise EmptyPodSharedPool(
            f"pod rejected, sum of exclusive container {words.exclusive} requests equals pod "
            f"budget, leaving no {words.unit} for shared containers"
        )
