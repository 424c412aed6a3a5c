"""No input costs more than its size: twice as much of the worst costs about twice the CPU."""

from __future__ import annotations

import pytest
from bench.growth import CASES, growth

FAIR = 3.0
"""Twice the CPU is linear, four times is quadratic. Processors and caches are never exact."""


@pytest.mark.parametrize("name", CASES)
def test_twice_as_much_of_the_worst_costs_about_twice_the_cpu(name: str) -> None:
    found: list[float] = []
    while len(found) < 4:  # whoever else is busy here spoils one try, not all
        found.append(growth(name, 1 + 2 * len(found))[1])
        if found[-1] < FAIR:
            return
    pytest.fail(f"{name}: {', '.join(f'{ratio:.1f}' for ratio in found)} times the CPU")
