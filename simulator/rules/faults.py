"""How faults are said: the causes of a 422, in the words of field.Error."""

from __future__ import annotations

import re
from typing import Final

from simulator.errors import Cause
from simulator.objects import encode

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_LABEL: Final = 63


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


def too_long(field: str, most: int) -> Cause:
    """Say how many bytes a value may have; it is not shown."""
    return Cause(field, "FieldValueTooLong", f"Too long: may not be more than {most} bytes")


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
