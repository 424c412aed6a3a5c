"""Rung 2: keep a pod off the nodes that can never align it, by node affinity.

Required affinity is evaluated again by kubelets, at admission and at every restart, so it may only
name static facts, and only as NotIn: that allows nodes without the label (fresh ones, templates of
an autoscaler) and never kills a pod whose node lost a label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evencore.domain import names
from evencore.domain.resources import pod_total
from evencore.domain.text import count, one_of
from evencore.domain.views import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evencore.domain.alignment import Asked
    from evencore.domain.resources import Kind
    from evencore.domain.snapshot import Nodes
    from evencore.domain.topology import NodeFacts
    from evencore.domain.views import Term

LONGEST_NAME_LIST = 20  # misfits named one by one; longer lists make big pods, slow schedulers


class Need(Struct, frozen=True, gc=False):
    """What a pod asks of a node, in whole exclusive CPUs."""

    container: int  # the largest container
    pod: int  # the most that the kubelet gives out at one time for the pod
    aligned: tuple[int, ...]  # requests that must be whole cores


class Fit(NamedTuple):
    """What a pod asks for, and on which of the known nodes it can ever have it (bit sets)."""

    need: Need
    eligible: int  # the nodes that its author allows
    fits: int  # those of them that could admit it


class Rule(NamedTuple):
    """One requirement on nodes, and in words what it is for."""

    requirement: Requirement
    sentences: tuple[str, ...]

    @property
    def is_field(self) -> bool:
        """Whether it goes into matchFields, not matchExpressions."""
        return self.requirement.key == names.NODE_NAME_FIELD


def need_of(result: Iterable[Asked]) -> Need:
    """Return what a pod will ask of a node: only whole requests get exclusive CPUs."""
    largest = 0
    whole: list[tuple[Kind, int]] = []
    aligned: set[int] = set()
    for container, millis, ours in result:
        if millis % 1000 == 0:
            value = millis // 1000
            largest = max(largest, value)
            whole.append((container.kind, value))
            if ours:
                aligned.add(value)
    return Need(largest, pod_total(whole), tuple(sorted(aligned)))


def misfit(node: NodeFacts, need: Need) -> str | None:
    """Say why a node can never admit such a pod; None = it could."""
    if node.max_container is not None and need.container > node.max_container:
        return (
            f"at most {count(node.max_container, 'CPU')} for one container, {need.container} needed"
        )
    if node.max_pod is not None and need.pod > node.max_pod:
        return f"at most {count(node.max_pod, 'CPU')} for one pod, {need.pod} needed"
    if node.width and node.checks_alignment:
        for value in need.aligned:
            if value % node.width:
                return f"{node.width} threads per core, {count(value, 'CPU')} are not whole cores"
    return None


def fitting(nodes: Nodes, need: Need, mask: int) -> int:
    """Return the nodes of a bit set that could admit such a pod: those without a `misfit`."""
    for limits, asked in ((nodes.max_container, need.container), (nodes.max_pod, need.pod)):
        for limit, having in limits.items():
            if limit < asked:
                mask &= ~having
    for width, having in nodes.widths.items():
        if any(value % width for value in need.aligned):
            mask &= ~(having & ~nodes.unchecked)
    return mask


def rules(nodes: Nodes, fit: Fit) -> list[Rule]:
    """Return the requirements that keep a pod off the eligible nodes that it can never fit.

    A rule on a label goes for all nodes that have it, so none is made that would keep out one that
    fits: its kubelet may run without full-pcpus-only, or its label be older than what its admin
    wrote.
    """
    need, eligible, fits = fit
    left = unnamed = eligible & ~fits  # what one rule is made for needs no other
    found: list[Rule] = []

    def usable(key: str, value: int) -> bool:
        return not nodes.index.having(key, str(value)) & fits

    for key, limits, asked, what in (
        (names.MAX_CONTAINER_CPUS, nodes.max_container, need.container, "container"),
        (names.MAX_POD_CPUS, nodes.max_pod, need.pod, "pod"),
    ):
        small = sorted(
            limit
            for limit, having in limits.items()
            if limit < asked and having & left and usable(key, limit)
        )
        for limit in small:
            left &= ~limits[limit]
            unnamed &= ~nodes.index.having(key, str(limit))
        if small:
            sentence = f"not on nodes of {one_of(small)} CPUs per {what}: {asked} needed"
            found.append(Rule(not_in(key, map(str, small)), (sentence,)))
    uneven = sorted(
        width
        for width, having in nodes.widths.items()
        if any(value % width for value in need.aligned)
        and having & left & ~nodes.unchecked
        and usable(names.THREADS_PER_CORE, width)
    )
    for width in uneven:
        unnamed &= ~nodes.index.having(names.THREADS_PER_CORE, str(width))
    if uneven:
        odd = sorted({v for v in need.aligned if any(v % width for width in uneven)})
        sentence = (
            f"not on nodes of {one_of(uneven)} threads per core: "
            f"{one_of(odd, last='and')} CPUs are not whole cores there"
        )
        found.append(Rule(not_in(names.THREADS_PER_CORE, map(str, uneven)), (sentence,)))
    return found + _by_name(nodes, need, unnamed)


def _by_name(nodes: Nodes, need: Need, misfits: int) -> list[Rule]:
    """Name the misfits that no label tells apart (yet)."""
    found: list[Rule] = []
    for node in nodes.within(misfits):
        if len(found) == LONGEST_NAME_LIST:
            break
        found.append(
            Rule(
                not_in(names.NODE_NAME_FIELD, [node.name]),
                (f"not on {node.name}: {misfit(node, need)}",),
            )
        )
    return found


def not_in(key: str, values: Iterable[str]) -> Requirement:
    """Make a NotIn requirement."""
    return Requirement(key, "NotIn", list(values))


def still_missing(term: Term, requirement: Requirement) -> Requirement | None:
    """Return the part of a NotIn requirement that a term does not have yet; None = it has all.

    What is ANDed to a term twice changes nothing, so only what is missing is added.
    """
    field = requirement.key == names.NODE_NAME_FIELD
    existing = (term.match_fields if field else term.match_expressions) or ()
    covered = {
        value
        for have in existing
        if have.operator == "NotIn" and have.key == requirement.key
        for value in have.values or ()
    }
    values = [value for value in requirement.values or () if value not in covered]
    return not_in(requirement.key, values) if values else None


def missing_rules(terms: Sequence[Term] | None, wanted: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules that would change a pod with these required terms.

    An empty term matches no node and stays empty, so a pod with only such terms has all it needs.
    """
    if terms is None:
        return tuple(wanted)
    return tuple(
        rule
        for rule in wanted
        if any(not t.empty and still_missing(t, rule.requirement) for t in terms)
    )
