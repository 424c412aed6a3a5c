"""A machine whose CPUs are numbered as a firmware would. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.kubelet.machine import Core, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN, _SAME_SOCKET, _FAR = 10, 12, 21  # what firmware tables say of NUMA nodes' distances


class Plan(NamedTuple):
    """What to build.

    `interleaved`: neighbouring cores lie in different NUMA nodes (two nodes: even and odd).
    `adjacent`: threads of a core have neighbouring numbers, else they are `cores` apart.
    `cores_per_l3`: None: one L3 cache for each NUMA node. `memory`: bytes in all.
    """

    sockets: int
    numa_nodes: int
    cores: int  # in all
    threads_per_core: int
    interleaved: bool
    adjacent: bool
    cores_per_l3: int | None = None
    memory: int = 0


def build(plan: Plan) -> Machine:
    """Make the machine."""
    nodes = range(plan.numa_nodes)
    return Machine(
        cores=tuple(_cores(plan)),
        distances=tuple(tuple(_distance(one, other, plan) for other in nodes) for one in nodes),
        memory=(plan.memory // plan.numa_nodes,) * plan.numa_nodes,
    )


def _distance(one: int, other: int, plan: Plan) -> int:
    if one == other:
        return _OWN
    return _SAME_SOCKET if _socket(one, plan) == _socket(other, plan) else _FAR


def _socket(numa: int, plan: Plan) -> int:
    return numa * plan.sockets // plan.numa_nodes


def _cores(plan: Plan) -> Iterator[Core]:
    """Iterate over the cores; L3 caches are numbered through all NUMA nodes."""
    per_node = plan.cores // plan.numa_nodes
    for core in range(plan.cores):
        if plan.interleaved:
            inside, numa = divmod(core, plan.numa_nodes)
        else:
            numa, inside = divmod(core, per_node)
        first = core * plan.threads_per_core if plan.adjacent else core
        step = 1 if plan.adjacent else plan.cores
        l3 = None
        if plan.cores_per_l3 is not None:
            l3 = numa * (per_node // plan.cores_per_l3) + inside // plan.cores_per_l3
        cpus = tuple(first + thread * step for thread in range(plan.threads_per_core))
        yield Core(numa, _socket(numa, plan), l3, cpus)
