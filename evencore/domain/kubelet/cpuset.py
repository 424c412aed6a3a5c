"""A set of CPUs: an integer whose bit n says that CPU n is in it.

Union, intersection and difference are `|`, `&` and `& ~`; the size is `bit_count()`.
Text is what Linux and the kubelet write: "0-3,8,10-11".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CPUSet = int

_HIGHEST = 1 << 16  # no Linux has more CPUs; a slip of the pen must not cost gigabytes


def of(cpus: Iterable[int]) -> CPUSet:
    """Make a set of CPU ids."""
    found = 0
    for cpu in cpus:
        found |= 1 << cpu
    return found


def ids(cpus: CPUSet) -> Iterator[int]:
    """Iterate over the CPU ids, lowest first."""
    while cpus:
        lowest = cpus & -cpus
        yield lowest.bit_length() - 1
        cpus ^= lowest


def parse(text: str) -> CPUSet:
    """Read a list as the kubelet writes it; an empty text is the empty set. Raises ValueError."""
    found = 0
    for part in filter(None, text.split(",")):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError("write CPUs as the kubelet does, such as 0-1,24")
        low, high = int(first), int(last or first)
        if not low <= high < _HIGHEST:
            raise ValueError(f"{part.strip()} is no range of CPUs")
        found |= (1 << (high + 1)) - (1 << low)
    return found


def show(cpus: CPUSet) -> str:
    """Write a set as the kubelet does (k8s.io/utils/cpuset: String)."""
    parts = []
    while cpus:
        first = (cpus & -cpus).bit_length() - 1
        length = (~(cpus >> first) & ((cpus >> first) + 1)).bit_length() - 1
        parts.append(f"{first}-{first + length - 1}" if length > 1 else str(first))
        cpus &= ~(((1 << length) - 1) << first)
    return ",".join(parts)
