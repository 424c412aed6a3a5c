"""Sets of CPUs are read and written as the kubelet and Linux do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain.kubelet import cpuset


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", []),
        ("0", [0]),
        ("0-3,8,10-11", [0, 1, 2, 3, 8, 10, 11]),
        ("3,1", [1, 3]),
        (" 0-1, 24 ", [0, 1, 24]),
        ("5-5", [5]),
    ],
)
def test_a_list_is_read(text: str, cpus: list[int]) -> None:
    assert list(cpuset.ids(cpuset.parse(text))) == cpus


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1-a", "3-1", "0-99999999", "1.5", "0x1"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"as the kubelet does|is no range of CPUs"):
        cpuset.parse(text)


@pytest.mark.parametrize(
    ("cpus", "text"),
    [([], ""), ([7], "7"), ([0, 1], "0-1"), ([0, 2, 3, 4, 9], "0,2-4,9"), ([511], "511")],
)
def test_a_set_is_written_with_ranges(cpus: list[int], text: str) -> None:
    assert cpuset.show(cpuset.of(cpus)) == text


@given(st.sets(st.integers(0, 600)))
def test_what_is_written_can_be_read(cpus: set[int]) -> None:
    written = cpuset.show(cpuset.of(cpus))
    assert set(cpuset.ids(cpuset.parse(written))) == cpus
