"""What the metadata of every object must be: names, labels, annotations, finalizers, owners.

Kubernetes rules: ValidateObjectMeta of k8s.io/apimachinery and pkg/apis/core/validation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.errors import Cause
    from simulator.objects import Object

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PART: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_NAME, _LONGEST_PART = 253, 63
_MOST_ANNOTATIONS: Final = 256 * 1024  # bytes of all keys and values
_STANDARD_FINALIZERS: Final = ("kubernetes", "foregroundDeletion", "orphan")
_CHARACTERS: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)


def check(obj: Object, *, path_names: bool) -> Iterator[Cause]:
    """Check metadata; `path_names`: RBAC's names may be anything that fits in a path."""
    metadata = obj["metadata"]
    yield from _name(metadata["name"], path_names=path_names)
    yield from labels("metadata.labels", metadata.get("labels") or {})
    yield from _annotations(metadata.get("annotations") or {})
    yield from _owners(metadata.get("ownerReferences") or [])


def check_new(obj: Object) -> Iterator[Cause]:
    """Check what only new objects are asked for."""
    for number, name in enumerate(obj["metadata"].get("finalizers") or ()):
        at = f"metadata.finalizers[{number}]"
        yield from qualified(at, name)
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield faults.invalid(at, name, why)


def check_update(old: Object, new: Object) -> Iterator[Cause]:
    """Check what may not be added to an object that is being deleted."""
    before, after = (one["metadata"].get("finalizers") or () for one in (old, new))
    added = sorted(set(after) - set(before))
    if added and old["metadata"].get("deletionTimestamp"):
        listed = ", ".join(f'"{one}"' for one in added)
        why = (
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{listed}}}"
        )
        yield faults.forbidden("metadata.finalizers", why)


def _name(name: str, *, path_names: bool) -> Iterator[Cause]:
    if path_names:
        if name in (".", "..") or "/" in name or "%" in name:
            yield faults.invalid("metadata.name", name, "must not be '.', '..', or have '/', '%'")
    elif len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name):
        why = "must be a lowercase RFC 1123 subdomain: a-z, 0-9, '-' and '.', e.g. 'example.com'"
        yield faults.invalid("metadata.name", name, why)


def labels(at: str, given: Mapping[str, str]) -> Iterator[Cause]:
    """Check the keys and values of labels, or of a selector of them."""
    for key, value in given.items():
        yield from qualified(at, key)
        yield from label_value(at, key, value)


def label_value(at: str, key: str, value: str) -> Iterator[Cause]:
    """Check the value of one label."""
    if len(value) > _LONGEST_PART or (value and not _PART.fullmatch(value)):
        why = f"the label {key} must be up to 63 of a-z, A-Z, 0-9, '-', '_' and '.'"
        yield faults.invalid(at, value, why)


def qualified(at: str, name: str) -> Iterator[Cause]:
    """Check a name such as example.com/name; the part before the slash may be missing."""
    prefix, slash, rest = name.rpartition("/")
    if slash and (len(prefix) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(prefix)):
        yield faults.invalid(at, name, "prefix part must be a lowercase RFC 1123 subdomain")
    if not rest:
        yield faults.invalid(at, name, "name part must be non-empty")
    elif len(rest) > _LONGEST_PART:
        yield faults.invalid(at, name, "name part must be no more than 63 bytes")
    elif not _PART.fullmatch(rest):
        yield faults.invalid(at, name, f"name part {_CHARACTERS}")


def _annotations(given: Mapping[str, str]) -> Iterator[Cause]:
    for key in given:
        yield from qualified("metadata.annotations", key.lower())
    size = sum(len(key.encode()) + len(value.encode()) for key, value in given.items())
    if size > _MOST_ANNOTATIONS:
        yield faults.too_long("metadata.annotations", _MOST_ANNOTATIONS)


def _owners(given: list[Object]) -> Iterator[Cause]:
    at = "metadata.ownerReferences"
    for owner in given:
        for part in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(part):
                yield faults.invalid(f"{at}.{part}", owner.get(part, ""), "must not be empty")
    controllers = [f"{one['kind']}/{one['name']}" for one in given if one.get("controller")]
    for other in controllers[1:]:
        why = (
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {other}'
        )
        yield faults.invalid(at, given, why)
