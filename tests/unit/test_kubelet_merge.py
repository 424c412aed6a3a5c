"""Merging hints, beside a second implementation: one by one through all combinations.

Facts: section 7; Kubernetes: topologymanager/policy.go: HintMerger, which does go one by one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet_builders import machine

from evencore.domain.kubelet.hints import IMPOSSIBLE, Hint, Hints
from evencore.domain.kubelet.merge import (
    BEST_EFFORT,
    RESTRICTED,
    SINGLE_NUMA_NODE,
    Merger,
)

NODES = 4
ALL = (1 << NODES) - 1
DISTANCES = ((10, 12, 30, 40), (12, 10, 20, 20), (30, 20, 10, 12), (40, 20, 12, 10))
FOUR = replace(machine(sockets=2, numas=NODES, cores=2), distances=DISTANCES)

Pairs = list[tuple[int, bool]] | None


def _size(nodes: int) -> int:
    return nodes.bit_count()


def _average(nodes: int) -> float:
    members = [n for n in range(NODES) if nodes >> n & 1]
    return sum(DISTANCES[a][b] for a in members for b in members) / len(members) ** 2


def _fitter(now: int, new: int, *, closest: bool) -> bool:
    """Whether a new set replaces the one so far."""
    if now == new:
        return False
    if _size(now) != _size(new):
        return _size(new) < _size(now)
    if closest and _average(now) != _average(new):
        return _average(new) < _average(now)
    return new < now


def _replaces(now: tuple[int, bool], new: tuple[int, bool], wanted: int, *, closest: bool) -> bool:
    if now[1] != new[1]:
        return new[1]
    if now[1] or _size(now[0]) > wanted:
        return _fitter(now[0], new[0], closest=closest)
    if _size(now[0]) == wanted or _size(new[0]) == _size(now[0]):
        return _size(new[0]) == _size(now[0]) and _fitter(now[0], new[0], closest=closest)
    return _size(now[0]) < _size(new[0]) <= wanted


def _one_by_one(policy: str, answers: list[Pairs], *, closest: bool) -> Hint | None:
    lists: list[list[tuple[int | None, bool]]] = [
        [(None, True)] if answer is None else list(answer) or [(None, False)] for answer in answers
    ]
    if policy == SINGLE_NUMA_NODE:
        lists = [
            [h for h in hints if h[1] and (h[0] is None or _size(h[0]) == 1)] for hints in lists
        ]
        closest = False
    wanted = max(
        min((_size(nodes) for nodes, _ in hints if nodes is not None), default=0) for hints in lists
    )
    best: tuple[int, bool] | None = None
    for combination in product(*lists):
        given_nodes = [nodes for nodes, _ in combination if nodes is not None]
        merged = ALL
        for nodes in given_nodes:
            merged &= nodes
        new = merged, len(set(given_nodes)) <= 1 and all(preferred for _, preferred in combination)
        if merged and (best is None or _replaces(best, new, wanted, closest=closest)):
            best = new
    nodes, preferred = best or (ALL, False)
    if policy != BEST_EFFORT and not preferred:
        return None
    return Hint(None if policy == SINGLE_NUMA_NODE and nodes == ALL else nodes, preferred)


def _hints(pairs: Pairs) -> Hints | None:
    if pairs is None:
        return None
    others = [nodes for nodes, preferred in pairs if not preferred]
    return Hints([nodes for nodes, preferred in pairs if preferred], lambda: others)


ANSWERS = st.none() | st.dictionaries(st.integers(1, ALL), st.booleans()).map(
    lambda hints: list(hints.items())
)


@pytest.mark.parametrize("closest", [False, True])
@pytest.mark.parametrize("policy", [BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE])
@given(answers=st.lists(ANSWERS, min_size=1, max_size=3))
def test_the_hint_is_the_one_found_one_by_one(
    policy: str,
    closest: bool,  # noqa: FBT001  a parameter of the table
    answers: list[Pairs],
) -> None:
    ours = Merger(policy, FOUR, closest=closest).merge([_hints(answer) for answer in answers])
    assert ours == _one_by_one(policy, answers, closest=closest)


def test_what_cannot_be_is_admitted_by_best_effort_only() -> None:
    assert Merger(BEST_EFFORT, FOUR).merge([IMPOSSIBLE]) == Hint(ALL, preferred=False)
    assert Merger(RESTRICTED, FOUR).merge([IMPOSSIBLE, None]) is None
    assert Merger(SINGLE_NUMA_NODE, FOUR).merge([IMPOSSIBLE]) is None


def test_middle_nodes_go_before_the_outer_ones() -> None:
    """{1,2} is 6 and {0,3} is 9 as a number."""
    hints = Hints([0b1001, 0b0110])
    assert Merger(RESTRICTED, FOUR).merge([hints]) == Hint(0b0110, preferred=True)


def test_the_closest_go_before_lower_numbers() -> None:
    hints = Hints([0b1100, 0b0101])
    assert Merger(RESTRICTED, FOUR).merge([hints]) == Hint(0b0101, preferred=True)
    assert Merger(RESTRICTED, FOUR, closest=True).merge([hints]) == Hint(0b1100, preferred=True)
