"""Label and field selectors: text → a question that any object answers with yes or no.

Kubernetes rules: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`, all ANDed.
`!=` and `notin` also match objects without the label. Fields know only = and !=.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.errors import bad_request
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Collection

    from simulator.objects import Object

_KEY: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE: Final = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_SET: Final = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EQUAL: Final = re.compile(rf"({_KEY})\s*(==|=|!=)\s*({_VALUE})")
_BARE: Final = re.compile(rf"(!?)\s*({_KEY})")
_PARTS: Final = re.compile(r",(?![^()]*\))")


class Requirement(NamedTuple):
    """One condition on one label: it is there (or not), with one of the values."""

    key: str
    wanted: bool
    values: frozenset[str] | None  # None: any value

    def holds(self, labels: dict[str, str]) -> bool:
        """Tell whether these labels meet it."""
        value = labels.get(self.key)
        met = value is not None and (self.values is None or value in self.values)
        return met is self.wanted


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Read a label selector; empty matches everything. Raises a 400 for anything else."""
    if not text.strip():
        return ()
    return tuple(_requirement(part.strip(), text) for part in _PARTS.split(text))


def _requirement(part: str, whole: str) -> Requirement:
    if match := _SET.fullmatch(part):
        values = frozenset(value.strip() for value in match[3].split(","))
        return Requirement(match[1], match[2] == "in", values)
    if match := _EQUAL.fullmatch(part):
        return Requirement(match[1], match[2] != "!=", frozenset((match[3],)))
    if match := _BARE.fullmatch(part):
        return Requirement(match[2], not match[1], None)
    raise bad_request(
        f"unable to parse the label selector {whole!r} at {part!r}: "
        "write it as key=value, key!=value, key in (a,b), key notin (a,b), key or !key"
    )


def of_label_selector(selector: Object | None) -> tuple[Requirement, ...] | None:
    """Read the `selector` of a workload; None (absent) selects nothing, {} everything."""
    if selector is None:
        return None
    found = [
        Requirement(key, True, frozenset((value,)))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for expression in selector.get("matchExpressions") or ():
        operator = expression["operator"]
        values = frozenset(expression.get("values") or ()) or None
        found.append(Requirement(expression["key"], operator in ("In", "Exists"), values))
    return tuple(found)


class FieldRequirement(NamedTuple):
    """One condition on one field."""

    path: tuple[str, ...]
    wanted: bool
    value: str


def parse_fields(text: str, known: Collection[str]) -> tuple[FieldRequirement, ...]:
    """Read a field selector over the `known` fields; a 400 for others, as the API server does."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([^=!]+?)\s*(==|=|!=)\s*(.*)", part)
        if match is None:
            raise bad_request(f"invalid field selector {text!r}: write it as field=value")
        if match[1] not in known:
            raise bad_request(f"field label not supported: {match[1]}")
        found.append(FieldRequirement(tuple(match[1].split(".")), match[2] != "!=", match[3]))
    return tuple(found)


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Selector(NamedTuple):
    """What a list or a watch is restricted to."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    def matches(self, obj: Object) -> bool:
        """Tell whether an object is selected."""
        for path, wanted, value in self.fields:
            found = _text(dig(obj, *path))
            # Selectable booleans that are not set read as false (pods' hostNetwork and such).
            if not found and value in ("true", "false"):
                found = "false"
            if (found == value) is not wanted:
                return False
        if not self.labels:
            return True
        labels = obj["metadata"].get("labels") or {}
        return all(requirement.holds(labels) for requirement in self.labels)
