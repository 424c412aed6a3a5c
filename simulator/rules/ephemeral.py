"""Ephemeral containers: added to a pod through their subresource, and never taken away. Pure.

Kubernetes rules: podEphemeralContainersStrategy, ValidatePodEphemeralContainersUpdate,
validateEphemeralContainers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.objects import dig
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

SUBRESOURCE: Final = "ephemeralcontainers"
_PART: Final = "ephemeralContainers"
_AT: Final = f"spec.{_PART}"
_NEVER: Final = (
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "resizePolicy",
    "resources",
    "startupProbe",
)


def combined(old: Object, new: Object) -> Object:
    """Return `old` with the ephemeral containers of `new`."""
    spec = {**old["spec"], _PART: dig(new, "spec", _PART) or []}
    return {**old, "spec": spec}


def check_new(spec: Object) -> Iterator[Cause]:
    """Check a new pod, which cannot have any yet."""
    if spec.get(_PART):
        yield faults.forbidden(_AT, "cannot be set on create")


def check_update(old: Object, new: Object) -> Iterator[Cause]:
    """Check a write through the subresource."""
    spec = new["spec"]
    others = [
        one["name"] for part in ("initContainers", "containers") for one in spec.get(part) or ()
    ]
    names: set[str] = set()
    for number, container in enumerate(spec.get(_PART) or ()):
        yield from _one(container, f"{_AT}[{number}]", [*others, *names])
        target = container.get("targetContainerName")
        if target and target not in others:
            yield faults.not_found(f"{_AT}[{number}].targetContainerName", target)
        names.add(container.get("name") or "")
    now = {one.get("name"): one for one in spec.get(_PART) or ()}
    for was in old["spec"].get(_PART) or ():
        name = was["name"]
        if name not in now:
            text = f'existing ephemeral containers "{name}" may not be removed\n'
            yield faults.forbidden(_AT, text)
        elif now[name] != was:
            text = f'existing ephemeral containers "{name}" may not be changed\n'
            yield faults.forbidden(_AT, text)


def _one(container: Object, at: str, taken: list[str]) -> Iterator[Cause]:
    name = container.get("name") or ""
    if not name:
        yield faults.required(f"{at}.name")
    elif name in taken:
        yield faults.duplicate(f"{at}.name", name)
    else:
        yield from faults.of_label_name(f"{at}.name", name)
    if not container.get("image"):
        yield faults.required(f"{at}.image")
    for part in filter(container.get, _NEVER):
        yield faults.forbidden(f"{at}.{part}", "cannot be set for an Ephemeral Container")
