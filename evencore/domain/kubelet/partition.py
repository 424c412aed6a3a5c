"""The parts that containers get of a set that their pod has as a whole.

Kubernetes: cm/cpumanager/policy_static.go: AllocatePod (gate PodLevelResourceManagers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.resources import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.pod import Container


def partition(
    whole: CPUSet,
    wanted: Mapping[Container, int],
    pick: Callable[[CPUSet, int], CPUSet],
) -> dict[str, CPUSet]:
    """Give each container its exclusive part, or what is left over to share.

    `wanted`: exclusive CPUs of each container, in the order of the pod; 0: it shares. Init
    containers run one after the other, each with all that the sidecars before it left. What is
    shared by sidecars and apps is known only when all the others have their parts.
    """
    parts: dict[str, CPUSet] = {}
    rest = whole
    for container, count in wanted.items():
        if count:
            parts[container.name] = pick(rest, count)
        elif container.kind is Kind.INIT:
            parts[container.name] = rest
        if count and container.kind is not Kind.INIT:
            rest &= ~parts[container.name]
    return {container.name: parts.get(container.name, rest) for container in wanted}
