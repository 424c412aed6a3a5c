"""Even shares: the same number of CPUs from each of as few NUMA nodes as that works for.

Kubernetes: cm/cpumanager/cpu_assignment.go: takeByTopologyNUMADistributed, for the option
distribute-cpus-across-numa; the idea is KEP-2902.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.kubelet.accumulator import Accumulator
from evencore.domain.kubelet.goslices import EMPTY, Slice, subsets
from evencore.domain.kubelet.packed import take_packed
from evencore.domain.kubelet.refusals import AllocateFailed, NotEnoughCPUs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine

Counts = dict[int, int]  # NUMA node -> free CPUs


class Plan(NamedTuple):
    """NUMA nodes that give even shares, and those of them that give the rest, group by group."""

    nodes: Slice
    rest: Slice
    score: float  # standard deviation of what is free afterwards; less is better


def take_distributed(machine: Machine, free: CPUSet, count: int, group: int) -> CPUSet:
    """Choose `count` of the free CPUs in groups of `group` (the threads of a core, or 1).

    Raises NotEnoughCPUs, or AllocateFailed when the books do not balance.
    """
    if count % group:
        return take_packed(machine, free, count)
    if count < 1:
        return 0
    if count > free.bit_count():
        raise NotEnoughCPUs(count, free.bit_count())
    chosen = Accumulator(machine, free, count)
    numas = [numa.id for numa in chosen.numas()]
    counts = {id_: (free & machine.numas[id_]).bit_count() for id_ in numas}
    for size in _sizes(machine, len(numas), count, group):
        plan = _best_plan(counts, size, count, group)
        if plan is not None:
            return _carry_out(plan, chosen, count, group)
    return take_packed(machine, free, count)


def _sizes(machine: Machine, with_free: int, count: int, group: int) -> range:
    """Tell how many NUMA nodes to try (rangeNUMANodesNeededToSatisfy)."""
    groups = -(-machine.cpus.bit_count() // group)
    per_node = -(-groups // len(machine.numas))
    needed = -(-count // group)
    return range(-(-needed // per_node), min(needed, with_free) + 1)


def _best_plan(counts: Counts, size: int, count: int, group: int) -> Plan | None:
    """Score all sets of `size` NUMA nodes; the first of the best is remembered.

    Oddity: which nodes it has when it is carried out is another matter (goslices).
    """
    best: Plan | None = None
    for nodes in subsets(list(counts), size):
        if best is not None and best.score == 0:
            break  # only now: the next member has been written already
        plan = _plan(nodes, counts, count, group)
        if plan is not None and (best is None or plan.score < best.score):
            best = plan
    return best


def _plan(nodes: Slice, counts: Counts, count: int, group: int) -> Plan | None:
    """Score one set of NUMA nodes; None: no even shares can come from it."""
    share = _share(nodes, count, group)
    if sum(counts[node] // group for node in nodes) * group < count:
        return None
    if any(counts[node] < share for node in nodes):
        return None
    left = dict(counts)
    for node in nodes:
        left[node] -= share
    rest = count - share * len(nodes)
    if not rest:
        return Plan(nodes, EMPTY, _deviation(left.values()))
    givers = [node for node in nodes if left[node] >= group]
    best: Plan | None = None
    for size in range(len(givers), 0, -1):
        for some in subsets(givers, size):
            after = _give_rest(some, left, rest, group)
            if after is None:
                continue
            score = _deviation(after.values())
            if best is None or score < best.score:
                best = Plan(nodes, some, score)
    return best


def _share(nodes: Slice, count: int, group: int) -> int:
    return count // len(nodes) // group * group


def _give_rest(nodes: Slice, left: Counts, rest: int, group: int) -> Counts | None:
    """Hand out the rest in turns; None: these nodes cannot."""
    if sum(left[node] for node in nodes) < rest:
        return None
    after = dict(left)
    while rest > 0:
        before = rest
        for node in nodes:
            if rest and after[node] >= group:
                after[node] -= group
                rest -= group
        if rest == before:
            return None  # single threads are left here and there: the kubelet would loop for ever
    return after


def _deviation(values: Iterable[int]) -> float:
    """Compute a standard deviation as the kubelet rounds it, mean and result to 3 places."""
    numbers = list(values)
    mean = _rounded(sum(numbers) / len(numbers))
    squares = sum((number - mean) * (number - mean) for number in numbers)
    return _rounded(math.sqrt(squares / len(numbers)))


def _rounded(number: float) -> float:
    """Round to 3 places, halves up (Go's math.Round of what is never negative)."""
    return math.floor(number * 1000 + 0.5) / 1000


def _carry_out(plan: Plan, chosen: Accumulator, count: int, group: int) -> CPUSet:
    share = _share(plan.nodes, count, group)
    for node in plan.nodes:
        _take_from(node, chosen, share)
    rest = count - share * len(plan.nodes)
    while rest > 0:
        before = rest
        for node in plan.rest:
            if rest and (chosen.free & chosen.machine.numas[node]).bit_count() >= group:
                _take_from(node, chosen, group)
                rest -= group
        if rest == before:
            break  # the kubelet would loop for ever
    if chosen.needed > 0:
        raise AllocateFailed(
            f"accounting error, not enough CPUs allocated, remaining: {chosen.needed}"
        )
    return chosen.taken


def _take_from(node: int, chosen: Accumulator, count: int) -> None:
    """Take from one NUMA node, or nothing at all if that has too few (the error is dropped)."""
    free = chosen.free & chosen.machine.numas[node]
    if count <= free.bit_count():
        chosen.take(take_packed(chosen.machine, free, count))
