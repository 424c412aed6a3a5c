"""Node selection: what nodeSelector and required node affinity allow.

The same semantics twice: `matches` for one node, in the words of Kubernetes
(k8s.io/component-helpers/scheduling/corev1/nodeaffinity), and `NodeIndex` for thousands at once,
with integers as bit sets: bit i stands for node i. A property test holds them together.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from evencore.domain import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evencore.domain.views import Affinity, PodSpec, Requirement, Term

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")  # what strconv.ParseInt(value, 10, 64) reads
_INT64 = 2**63


def matches(spec: PodSpec, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a pod's nodeSelector and required affinity allow a node."""
    if any(labels.get(key) != value for key, value in (spec.node_selector or {}).items()):
        return False
    terms = required_terms(spec)
    return terms is None or any(term_matches(term, name, labels) for term in terms)


def term_matches(term: Term, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether one term allows a node; an empty term allows none."""
    return (
        not term.empty
        and all(_label_matches(r, labels.get(r.key)) for r in term.match_expressions or ())
        and all(_field_matches(r, name) for r in term.match_fields or ())
    )


def required_terms(spec: PodSpec) -> list[Term] | None:
    """Return the ORed terms of the required node affinity; None if there is no such affinity.

    An affinity with an empty list of terms matches no node, so it comes back as [].
    """
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None or affinity.required is None:
        return None
    return affinity.required.node_selector_terms or []


def _label_matches(requirement: Requirement, value: str | None) -> bool:
    match requirement.operator:
        case "In":
            return value is not None and value in (requirement.values or ())
        case "NotIn":
            return value is None or value not in (requirement.values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            have = _integer(value)
            wanted = requirement.values or ()
            bound = _integer(wanted[0]) if len(wanted) == 1 else None
            if have is None or bound is None:
                return False
            return have > bound if requirement.operator == "Gt" else have < bound
    return False  # an operator that Kubernetes does not know makes the term match nothing


def _integer(text: str | None) -> int | None:
    if text is None or _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -_INT64 <= number < _INT64 else None


def _field_matches(requirement: Requirement, name: str) -> bool:
    # Validation allows metadata.name alone, with In or NotIn and exactly one value.
    values = requirement.values or ()
    if requirement.key != names.NODE_NAME_FIELD or len(values) != 1:
        return False
    if requirement.operator == "In":
        return values[0] == name
    return requirement.operator == "NotIn" and values[0] != name


class NodeIndex:
    """Answers "which nodes does this pod allow" for all nodes of a snapshot at once.

    A label key is indexed when a pod first asks for it. Nothing here changes what was answered
    before, so threads may share an index: at worst two of them index the same key.
    """

    def __init__(self, nodes: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        self._nodes = nodes
        # Numbers, not bit sets: one of those is as long as there are nodes.
        self._by_name = {name: bit for bit, (name, _) in enumerate(nodes)}
        self._keys = frozenset().union(*(labels for _, labels in nodes))
        self._by_key: dict[str, dict[str, int]] = {}
        self._any: dict[str, int] = {}
        self._ordered: dict[str, tuple[list[int], list[int]]] = {}
        self.all = (1 << len(nodes)) - 1

    def named(self, name: str) -> int:
        """Return the bit of a node; 0 if there is no such node."""
        bit = self._by_name.get(name)
        return 0 if bit is None else 1 << bit

    def having(self, key: str, value: str) -> int:
        """Return the nodes that have a label."""
        return self._values(key).get(value, 0)

    def allowed(
        self, spec: PodSpec, ignored: Callable[[Requirement], bool] = lambda _: False
    ) -> int:
        """Return the nodes that nodeSelector and required affinity allow.

        Requirements that `ignored` is true for count as met.
        """
        found = self.all
        for key, value in (spec.node_selector or {}).items():
            found &= self.having(key, value)
        terms = required_terms(spec)
        if terms is None or not found:
            return found
        any_term = 0
        for term in terms:
            any_term |= self._term(term, ignored)
        return found & any_term

    def _term(self, term: Term, ignored: Callable[[Requirement], bool]) -> int:
        if term.empty:
            return 0
        found = self.all
        for requirement in term.match_expressions or ():
            if not ignored(requirement):
                found &= self._expression(requirement)
        for requirement in term.match_fields or ():
            if not ignored(requirement):
                found &= self._field(requirement)
        return found

    def _expression(self, requirement: Requirement) -> int:
        by_value = self._values(requirement.key)
        if requirement.operator in ("In", "NotIn"):
            # Looked up: a label such as the host name has as many values as there are nodes, and a
            # pod may hold tens of thousands of requirements while every other admission waits.
            listed = 0
            for value in requirement.values or ():
                listed |= by_value.get(value, 0)
            return listed if requirement.operator == "In" else self.all ^ listed
        if requirement.operator in ("Exists", "DoesNotExist"):
            having = self._having_any(requirement.key, by_value)
            return having if requirement.operator == "Exists" else self.all ^ having
        if requirement.operator in ("Gt", "Lt"):
            return self._beyond(requirement, by_value)
        return 0

    def _having_any(self, key: str, by_value: Mapping[str, int]) -> int:
        if key not in self._any and by_value:
            self._any[key] = reduce(or_, by_value.values())
        return self._any.get(key, 0)

    def _beyond(self, requirement: Requirement, by_value: Mapping[str, int]) -> int:
        """Return the nodes whose label is a number above (Gt) or below (Lt) the one asked for."""
        values = requirement.values or ()
        bound = _integer(values[0]) if len(values) == 1 else None
        if bound is None or not by_value:
            return 0
        if requirement.key not in self._ordered:
            pairs = sorted(
                (number, nodes)
                for value, nodes in by_value.items()
                if (number := _integer(value)) is not None
            )
            # After the numbers: for each count, the nodes that have the so many smallest of them.
            smallest = list(accumulate((nodes for _, nodes in pairs), or_, initial=0))
            self._ordered[requirement.key] = [number for number, _ in pairs], smallest
        numbers, smallest = self._ordered[requirement.key]
        if requirement.operator == "Lt":
            return smallest[bisect_left(numbers, bound)]
        return smallest[-1] ^ smallest[bisect_right(numbers, bound)]

    def _field(self, requirement: Requirement) -> int:
        values = requirement.values or ()
        if requirement.key != names.NODE_NAME_FIELD or len(values) != 1:
            return 0
        named = self.named(values[0])
        if requirement.operator == "In":
            return named
        return self.all ^ named if requirement.operator == "NotIn" else 0

    def _values(self, key: str) -> dict[str, int]:
        values = self._by_key.get(key)
        if values is None:
            if key not in self._keys:
                return {}  # not kept: pods may ask for any number of keys that no node has
            values = {}
            for bit, (_, labels) in enumerate(self._nodes):
                value = labels.get(key)
                if value is not None:
                    values[value] = values.get(value, 0) | 1 << bit
            self._by_key[key] = values
        return values


def excluded_nodes(affinity: Affinity | None) -> frozenset[str]:
    """Return the nodes that required affinity names to keep a pod off, as rung 3 does it.

    Those are their names, or what `evencore.io/node` says on them, which is the name if it is short
    enough; in any term, for rung 3 writes into all of them.
    """
    node_affinity = affinity.node_affinity if affinity else None
    required = node_affinity.required if node_affinity else None
    return frozenset(
        value
        for term in (required.node_selector_terms if required else None) or ()
        for requirement in (*(term.match_expressions or ()), *(term.match_fields or ()))
        if requirement.operator == "NotIn"
        and requirement.key in (names.NODE, names.NODE_NAME_FIELD)
        for value in requirement.values or ()
    )
