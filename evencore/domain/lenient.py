"""Reads any value at all as a view of ours, and names what it had to leave out.

For: objects of which a part has another type than it should have; msgspec alone refuses them whole.
Not for: what is read (`views`), or bytes, which msgspec decodes straight into views.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.inspect import (
    AnyType,
    DictType,
    ListType,
    NoneType,
    StrType,
    StructType,
    Type,
    UnionType,
    type_info,
)

_type_of = cache(type_info)  # walking the classes takes longer than reading a pod

T = TypeVar("T", bound=Struct)


def read(view: type[T], value: object) -> tuple[T, tuple[str, ...]]:
    """Read any value as `view`; returns it with the paths of what had to be left out.

    No problem is reported exactly if msgspec would have decoded the value strictly. Never raises.
    """
    problems: list[str] = []
    found = _lenient(_type_of(view), value, "", problems)
    return (found if isinstance(found, view) else view()), tuple(problems)


def _lenient(wanted: Type, value: object, path: str, problems: list[str]) -> Any:  # noqa: ANN401  any JSON
    """`value` as far as it is `wanted`, else None, with a sentence in `problems`."""
    if isinstance(wanted, AnyType):
        return value
    if isinstance(wanted, UnionType):
        if value is None and any(isinstance(t, NoneType) for t in wanted.types):
            return None
        wanted = next(t for t in wanted.types if not isinstance(t, NoneType))
    if isinstance(wanted, StrType) and isinstance(value, str):
        return value
    if isinstance(wanted, ListType) and isinstance(value, list):
        items = [
            _lenient(wanted.item_type, item, f"{path}[{index}]", problems)
            for index, item in enumerate(value)
        ]
        return [item for item in items if item is not None]
    if isinstance(wanted, DictType) and isinstance(value, dict):
        entries = {
            key: _lenient(wanted.value_type, item, f"{path}[{key!a}]", problems)
            for key, item in value.items()
            if isinstance(key, str)
        }
        if isinstance(wanted.value_type, AnyType):
            return entries
        return {key: item for key, item in entries.items() if item is not None}
    if isinstance(wanted, StructType) and isinstance(value, dict):
        fields = {
            field.name: _lenient(
                field.type,
                value[field.encode_name],
                f"{path}.{field.encode_name}" if path else field.encode_name,
                problems,
            )
            for field in wanted.fields
            if field.encode_name in value
        }
        return wanted.cls(**{name: item for name, item in fields.items() if item is not None})
    problems.append(f"{path or 'the object'} is not {_KINDS.get(type(wanted), 'readable')}")
    return None


_KINDS = {StrType: "text", ListType: "a list", DictType: "a map", StructType: "an object"}
