"""Which fields of an object its kind does not have; pure.

For: `fieldValidation`, and for leaving out what Kubernetes would not keep.
Not for: types and values of fields that are known (`shapes` and the other rules).

Kubernetes rule: sigs.k8s.io/json. Fields are told in the order of the document, as
`spec.containers[0].imagge`; what is below an unknown field is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulator import schemas

if TYPE_CHECKING:
    from simulator.objects import Object


@dataclass(slots=True)
class Known:
    """What may be below a field: named fields, or the same below every item or key."""

    fields: dict[str, Known | None] | None = None  # None within: anything
    each: Known | None = None


_NOWHERE: Final = Known()


class Kinds:
    """The known fields of kinds, worked out once for each type."""

    def __init__(self) -> None:
        self._types: dict[str, Known | None] = {}

    def of(self, group: str, version: str, kind: str) -> Known | None:
        """Give what an object of a kind may have; None: anything."""
        name = schemas.name_of(group, version, kind)
        return self._type(name) if name else None

    def _type(self, name: str) -> Known | None:
        if name not in self._types:
            # Noted before it is filled: a type may have fields of its own type.
            self._types[name] = known = Known()
            if self._fill(known, schemas.definitions()[name]) is None:
                self._types[name] = None
        return self._types[name]

    def _below(self, schema: Object) -> Known | None:
        name = schemas.referred(schema)
        return self._type(name) if name else self._fill(Known(), schema)

    def _fill(self, known: Known, schema: Object) -> Known | None:
        if "properties" in schema:
            fields = schema["properties"]
            known.fields = {name: self._below(one) for name, one in fields.items()}
            return known
        # Some schemas say `additionalProperties: true`, which allows anything.
        each = schema.get("items") or schema.get("additionalProperties")
        known.each = self._below(each) if isinstance(each, dict) else None
        return known if known.each is not None else None


def unknown(known: Known | None, value: Any) -> list[str]:  # noqa: ANN401  any JSON value
    """Tell the places of the fields that are not known."""
    found: list[str] = []
    if known is not None:
        _look(known, value, "", found)
    return found


def _look(known: Known, value: Any, at: str, found: list[str]) -> None:  # noqa: ANN401  any JSON value
    # Every write from outside comes through here, hence no generators, and no look at leaves.
    fields, each = known.fields, known.each
    if isinstance(value, dict):
        for key, one in value.items():
            below = each if fields is None else fields.get(key, _NOWHERE)
            if below is _NOWHERE:
                found.append(f"{at}.{key}" if at else key)
            elif below is not None and one:
                _look(below, one, f"{at}.{key}" if at else key, found)
    elif isinstance(value, list) and each is not None:
        for number, one in enumerate(value):
            _look(each, one, f"{at}[{number}]", found)


def pruned(known: Known | None, value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Return a value without the fields that are not known."""
    if known is None:
        return value
    if isinstance(value, list):
        return [pruned(known.each, one) for one in value]
    if not isinstance(value, dict):
        return value
    if known.fields is None:
        return {key: pruned(known.each, one) for key, one in value.items()}
    fields = known.fields
    return {key: pruned(fields[key], one) for key, one in value.items() if key in fields}
