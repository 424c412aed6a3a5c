"""Packing: whole sockets and NUMA nodes, then L3 caches, whole cores, single threads.

Kubernetes: cm/cpumanager/cpu_assignment.go: takeByTopologyNUMAPacked.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evencore.domain.kubelet.accumulator import Accumulator
from evencore.domain.kubelet.refusals import NotEnoughCPUs

if TYPE_CHECKING:
    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.machine import Machine, Unit


def take_packed(
    machine: Machine, free: CPUSet, count: int, *, spread: bool = False, by_l3: bool = False
) -> CPUSet:
    """Choose `count` of the free CPUs, close together. Raises NotEnoughCPUs.

    `spread`: distribute-cpus-across-cores; `by_l3`: prefer-align-cpus-by-uncorecache.
    """
    if count < 1:
        return 0
    if count > free.bit_count():
        raise NotEnoughCPUs(count, free.bit_count())
    chosen = Accumulator(machine, free, count)
    _take_large_units(chosen)
    if by_l3 and not chosen.satisfied:
        _take_l3s(chosen)
    if not spread and not chosen.satisfied:
        chosen.take_whole_cores()
    if not chosen.satisfied:
        chosen.take_singly(chosen.cpus_by_socket() if spread else chosen.cpus_by_core())
    return chosen.taken


def _take_large_units(chosen: Accumulator) -> None:
    machine = chosen.machine
    if chosen.needed < min(machine.smallest_numa, machine.smallest_socket):
        return  # none of them could be taken whole
    if machine.numa_first:
        chosen.take_whole_numas()
        chosen.take_whole_sockets()
    else:
        chosen.take_whole_sockets()
        chosen.take_whole_numas()


def _take_l3s(chosen: Accumulator) -> None:
    """Take whole L3 caches, then part of one that can give all the rest (takeUncoreCache)."""
    for l3 in chosen.l3s():
        if chosen.needed >= chosen.machine.cpus_per_l3:
            chosen.take_whole_l3s()
        if chosen.satisfied:
            return
        _take_part_of(l3, chosen)
        if chosen.satisfied:
            return


def _take_part_of(l3: Unit, chosen: Accumulator) -> None:
    """Take the rest from the lowest cores of one L3 cache, or nothing (takePartialUncore).

    Oddity: cores count that are only half free, so that a cache with room may be passed over.
    """
    threads, free = chosen.machine.cpus_per_core, chosen.free
    cores = (core.whole for core in chosen.machine.cores_by_l3[l3.id] if core.whole & free)
    cpus = 0
    for core in islice(cores, -(-chosen.needed // threads)):
        cpus |= core & free
    # An odd request on SMT leaves one thread of the last core out: the highest CPU of all.
    if chosen.needed % 2 and threads > 1 and cpus.bit_count() > chosen.needed:
        cpus ^= 1 << (cpus.bit_length() - 1)
    if cpus.bit_count() == chosen.needed:
        chosen.take(cpus)
