"""How faults are said: the causes of a 422, in the words of field.Error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simulator.errors import Cause
from simulator.objects import encode

if TYPE_CHECKING:
    from simulator.objects import Object

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LONGEST_NAME, _LONGEST_LABEL = 253, 63


def required(field: str, why: str = "") -> Cause:
    """Say that a value is missing."""
    return Cause(field, "FieldValueRequired", f"Required value{': ' + why if why else ''}")


def invalid(field: str, value: object, why: str) -> Cause:
    """Say that a value is wrong."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {encode(value).decode()}: {why}")


def forbidden(field: str, why: str) -> Cause:
    """Say that a field may not be there, or not be changed."""
    return Cause(field, "FieldValueForbidden", f"Forbidden: {why}")


def duplicate(field: str, value: object) -> Cause:
    """Say that a value is there twice."""
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {encode(value).decode()}")


def not_found(field: str, value: object) -> Cause:
    """Say that there is nothing of that name."""
    return Cause(field, "FieldValueNotFound", f"Not found: {encode(value).decode()}")


def unsupported(field: str, value: object, known: tuple[str, ...]) -> Cause:
    """Say which values there are instead."""
    said = ", ".join(f'"{one}"' for one in known)
    text = f"Unsupported value: {encode(value).decode()}: supported values: {said}"
    return Cause(field, "FieldValueNotSupported", text)


def of_label_name(field: str, name: str) -> list[Cause]:
    """Check a DNS-1123 label."""
    if len(name) <= _LONGEST_LABEL and _LABEL.fullmatch(name):
        return []
    why = "must be a lowercase RFC 1123 label: up to 63 of a-z, 0-9 and '-', e.g. 'my-name'"
    return [invalid(field, name, why)]


def of_metadata(obj: Object, *, path_names: bool) -> list[Cause]:
    """Check name and labels; `path_names`: RBAC's names may be anything that fits in a path."""
    metadata = obj["metadata"]
    name: str = metadata["name"]
    found = []
    if path_names:
        if name in (".", "..") or "/" in name or "%" in name:
            found.append(invalid("metadata.name", name, "must not be '.', '..', or have '/', '%'"))
    elif len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name):
        why = "must be a lowercase RFC 1123 subdomain: a-z, 0-9, '-' and '.', e.g. 'example.com'"
        found.append(invalid("metadata.name", name, why))
    for key, value in (metadata.get("labels") or {}).items():
        if not isinstance(value, str) or len(value) > _LONGEST_LABEL or not _VALUE.fullmatch(value):
            why = f"the label {key} must be up to 63 of a-z, A-Z, 0-9, '-', '_' and '.'"
            found.append(invalid("metadata.labels", value, why))
    return found
