"""Free CPUs that are of no use: what is left when a node is filled up.

A node is filled with containers of the given sizes, the largest first, until its kubelet takes no
more. What whole cores are free then are stranded: no container of these sizes can have them.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from evencore.standing.asked import read_pod
from evencore.standing.verdicts import Admitted, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evencore.standing.asked import Asked
    from evencore.standing.node import Standing


class Stranded(NamedTuple):
    """What is left on one node."""

    cpus: dict[int, int]  # of whole free cores, by NUMA node
    why: str  # what the kubelet says to one more container of the smallest size

    @property
    def total(self) -> int:
        """On all NUMA nodes together."""
        return sum(self.cpus.values())


def stranded(standing: Standing, sizes: Iterable[int]) -> Stranded | None:
    """Fill a node up, look, and leave it as it was. `sizes`: exclusive CPUs of containers.

    None: it is not known, or there are no sizes.
    """
    inside: list[Asked] = []
    numbers = count()
    why = None
    for size in sorted(sizes, reverse=True):
        why = _fill(standing, size, inside, numbers)
        if why is None:
            break
    left = standing.free()
    for asked in inside:
        standing.remove(asked)
    if why is None or left is None:
        return None
    return Stranded(left, why if any(left.values()) else "")


def _fill(standing: Standing, size: int, inside: list[Asked], numbers: count[int]) -> str | None:
    """Put in containers of one size; returns why no more, None if that is not known."""
    while True:
        asked = _probe(size, next(numbers))
        inside.append(asked)
        verdict = standing.admit(asked)
        if isinstance(verdict, Refused):
            return verdict.reason
        if not isinstance(verdict, Admitted) or not verdict.numa:
            return None


def _probe(size: int, number: int) -> Asked:
    """Make a Guaranteed pod of one container that asks for CPUs and hardly any memory."""
    amounts = {"cpu": str(size), "memory": "1"}
    container = {"name": "probe", "resources": {"requests": amounts, "limits": amounts}}
    asked = read_pod({"spec": {"containers": [container]}}, f"probe/{number}")
    if asked is None:
        raise AssertionError(amounts)
    return asked
