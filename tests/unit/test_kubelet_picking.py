"""Which CPUs are picked, where no vector looks: shared memory of subsets, books, odd machines."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet_builders import machine

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.distributed import take_distributed
from evencore.domain.kubelet.goslices import subsets
from evencore.domain.kubelet.machine import Core, Machine
from evencore.domain.kubelet.packed import take_packed
from evencore.domain.kubelet.refusals import AllocateFailed, NotEnoughCPUs


@given(st.integers(0, 7), st.integers(1, 7))
def test_each_subset_is_seen_once_and_in_order(members: int, size: int) -> None:
    seen = [tuple(subset) for subset in subsets(range(members), size)]
    assert seen == list(combinations(range(members), size))


@pytest.mark.parametrize(
    ("size", "shared"), [(1, 0), (2, 0), (3, 0), (4, 1), (5, 0), (6, 1), (7, 2), (8, 3)]
)
def test_a_remembered_subset_changes_in_its_last_members(size: int, shared: int) -> None:
    """The kubelet's Go slices have room for 1, 2, 4 and 8 members."""
    first, *_ = remembered = list(subsets(range(10), size))
    assert remembered
    fixed = size - shared
    last = [one for one in combinations(range(10), size) if one[:fixed] == tuple(range(fixed))][-1]
    assert tuple(first) == last


def test_the_set_after_a_perfect_one_is_taken_and_the_books_do_not_balance() -> None:
    """Four NUMA nodes could give 4 each and leave all alike, but the last one is written over."""
    free_of = [[5, 5], [1, 5, 5], [1] * 11]  # by socket, NUMA node by NUMA node
    cores, free, cpu, numa = [], 0, 0, 0
    for socket, counts in enumerate(free_of):
        for count in counts:
            cores += [Core(numa, socket, None, (cpu + i,)) for i in range(8)]
            free |= cpuset.of(range(cpu, cpu + count))
            numa, cpu = numa + 1, cpu + 8
    with pytest.raises(AllocateFailed) as failed:
        take_distributed(Machine(tuple(cores)), free, 16, 1)
    assert failed.value.message == (
        "Allocate failed due to accounting error, not enough CPUs allocated, remaining: 4, "
        "which is unexpected"
    )


def test_even_shares_of_cores_are_not_possible_for_an_odd_number() -> None:
    two = machine(sockets=2, numas=2, cores=4)
    assert take_distributed(two, two.cpus, 3, 2) == take_packed(two, two.cpus, 3)


def test_single_threads_here_and_there_are_no_rest_to_hand_out() -> None:
    """The real kubelet would look for ever for a pair in nodes that have one thread left each."""
    eight = machine(sockets=2, numas=4, cores=8)
    odd = cpuset.of([0, 8])  # one thread of NUMA node 0 and one of node 1 are in use
    for count in range(2, (eight.cpus & ~odd).bit_count(), 2):
        taken = take_distributed(eight, eight.cpus & ~odd, count, 2)
        assert taken.bit_count() == count


@pytest.mark.parametrize("take", [take_packed, lambda m, f, n: take_distributed(m, f, n, 1)])
def test_nothing_is_picked_of_too_few(take: object) -> None:
    small = machine(numas=1, sockets=1)
    with pytest.raises(NotEnoughCPUs, match="requested=3, available=2"):
        take(small, 0b11, 3)  # type: ignore[operator]
    assert take(small, 0b11, 0) == 0  # type: ignore[operator]


def test_with_one_sibling_offline_a_core_is_taken_with_a_thread_that_somebody_has() -> None:
    """The kubelet takes CPUsPerCore, rounded down to 1, for the sign of a free core."""
    lame = Machine((Core(0, 0, None, (0, 3)), Core(0, 0, None, (1, 4)), Core(0, 0, None, (2,))))
    assert take_packed(lame, lame.cpus & ~cpuset.of([4]), 2) == cpuset.of([1, 4])


MACHINES = [
    machine(sockets=1, numas=1, cores=6),
    machine(sockets=4, numas=2, cores=4),
    machine(sockets=2, numas=4, cores=3),
    Machine(
        tuple(Core(i // 4, 0, i // 2, (2 * i, 2 * i + 1)) for i in range(8))
    ),  # cores share L3 caches in pairs
]


@given(st.sampled_from(MACHINES), st.data())
def test_as_many_are_picked_as_are_wanted_and_none_that_is_not_free(
    one: Machine, data: st.DataObject
) -> None:
    cpus = list(cpuset.ids(one.cpus))
    free = cpuset.of(data.draw(st.sets(st.sampled_from(cpus), min_size=1)))
    count = data.draw(st.integers(1, free.bit_count()))
    for taken in (
        take_packed(one, free, count),
        take_packed(one, free, count, spread=True),
        take_packed(one, free, count, by_l3=True),
        take_distributed(one, free, count, 1),
    ):
        assert taken.bit_count() == count
        assert not taken & ~free


@given(st.sampled_from(MACHINES), st.data())
def test_whole_cores_stay_whole_while_whole_cores_are_free(
    one: Machine, data: st.DataObject
) -> None:
    cores = list(one.core_sets.values())
    chosen = data.draw(st.sets(st.sampled_from(cores), min_size=1))
    free = 0
    for core in chosen:
        free |= core
    count = 2 * data.draw(st.integers(1, len(chosen)))
    taken = take_packed(one, free, count)
    assert one.cores_of(taken) == taken


def test_machines_are_values() -> None:
    assert {machine(), machine(), machine(cores=5)} == {machine(), machine(cores=5)}
