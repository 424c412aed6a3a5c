"""Subsets as the kubelet walks through them, with the memory that they share by mistake.

Kubernetes: cm/cpumanager/cpu_assignment.go: iterateCombinations. It hands each subset out as a Go
slice and goes on appending to the same memory. Whoever remembers a subset may later read other
members than he was shown: of subsets of 4, the last member is that of the subset visited last
with the same first three; of 6, 7 and 8, members 6, 7 and 8 change in the same way. It decides
which NUMA nodes get CPUs, so a model must do it too. `[run]` distribute-numa-4of6, -4of8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Slice:
    """A Go slice of ints: the first `length` places of an array that others may share."""

    __slots__ = ("array", "length")

    def __init__(self, array: list[int], length: int) -> None:
        self.array, self.length = array, length

    def append(self, value: int) -> Slice:
        """Append as Go does: in place while the array has room, else to a copy twice as large."""
        array, length = self.array, self.length
        if length == len(array):
            array = [*array, *[0] * (length or 1)]
        array[length] = value
        return Slice(array, length + 1)

    def __iter__(self) -> Iterator[int]:
        return iter(self.array[: self.length])

    def __len__(self) -> int:
        return self.length


EMPTY: Final = Slice([], 0)


def subsets(members: Sequence[int], size: int) -> Iterator[Slice]:
    """Iterate over all subsets of a size. The next member is written before it is asked for.

    A consumer that wants to stop must therefore take one more, as the kubelet does.
    """
    return _extend(EMPTY, members, size, 0)


def _extend(chosen: Slice, members: Sequence[int], more: int, start: int) -> Iterator[Slice]:
    if not more:
        yield chosen
        return
    for index in range(start, len(members) - more + 1):
        yield from _extend(chosen.append(members[index]), members, more - 1, index + 1)
