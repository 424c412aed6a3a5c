"""The pods that run on a node are put into its books.

How they came by their CPUs is not in a dump. Two ways to find out: asking the kubelet again in the
order in which they came, exact if none has ended since; or, where its NodeResourceTopology tells
how many CPUs are free in each NUMA node, taking as many there, whichever they are. Under
full-pcpus-only the cores of a NUMA node are alike, so that is exact, too.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.kubelet import cpuset
from evencore.domain.kubelet.config import FULL_PCPUS_ONLY
from evencore.domain.kubelet.packed import take_packed
from evencore.standing.books import book_of
from evencore.standing.verdicts import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evencore.domain.kubelet.cpuset import CPUSet
    from evencore.domain.kubelet.predicates import Allocatable
    from evencore.standing.asked import Asked
    from evencore.standing.books import Book
    from evencore.standing.knowledge import Way


class Filled(NamedTuple):
    """The books, and how sure they are."""

    book: Book
    doubt: str = ""  # a pod runs there that would not have been let in, in this order
    stale: str = ""  # its NodeResourceTopology tells of other pods than those
    halves: bool = False  # it is not known where half cores are free


def fill(
    way: Way,
    allocatable: Allocatable,
    pods: Sequence[Asked],
    free: Mapping[int, int] | None,
) -> Filled | None:
    """Put pods in, in this order; None: the node is not set up this way, for one could not run.

    `free`: by NUMA node, as the NodeResourceTopology tells. Raises StartError.
    """
    book = book_of(way, allocatable)
    strange = ""
    for asked in pods:
        answer = book.admit(asked.pod)
        if isinstance(answer, Refused):
            if "not multiple" in answer.message:
                return None  # full-pcpus-only, at any time, would not have let it in
            strange = strange or f"{asked.name} runs there, and would be refused ({answer.reason})"
            book.adopt(asked.pod, _some(book.unheld, book.wanted(asked.pod)))
    found = book.free()
    if free is None or free == found or way.config is None:
        return Filled(book, strange)
    room = book_of(way, allocatable).free()
    if sum(free.values()) != sum(found.values()) or any(free.get(n, 0) > room[n] for n in room):
        told, counted = (", ".join(str(one.get(n, 0)) for n in room) for one in (free, found))
        stale = f"its NodeResourceTopology tells of {told} free CPUs, and its pods leave {counted}"
        return Filled(book, strange, f"{stale}: it was not used")
    whole = FULL_PCPUS_ONLY in way.config.cpu_options or way.machine.cpus_per_core == 1
    return Filled(_by_zones(way, allocatable, pods, free), halves=not whole)


def _by_zones(
    way: Way, allocatable: Allocatable, pods: Sequence[Asked], free: Mapping[int, int]
) -> Book:
    """Take from each NUMA node what is not free there, and share it out among the pods."""
    book = book_of(way, allocatable)
    taken = 0
    for id_, mask in book.machine.numas.items():
        inside = book.unheld & mask
        taken |= take_packed(book.machine, inside, inside.bit_count() - free.get(id_, 0))
    for asked in pods:
        own = _some(taken, book.wanted(asked.pod))
        book.adopt(asked.pod, own)
        taken &= ~own
    return book


def _some(cpus: CPUSet, number: int) -> CPUSet:
    return cpuset.of(islice(cpuset.ids(cpus), number))
