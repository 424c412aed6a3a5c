"""What the requests and limits of a container must be.

Kubernetes rules: ValidateContainerResourceRequirements. What is neither Kubernetes' own nor has a
domain is unknown; what cannot be shared (huge pages, devices) is requested exactly up to its limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.quantity import QuantityError, parse_nanos
from simulator.rules import faults
from simulator.rules.metadata import qualified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.errors import Cause
    from simulator.objects import Object

_NANO: Final = 10**9
_STANDARD: Final = ("cpu", "memory", "ephemeral-storage")
_HUGE: Final = "hugepages-"
_PARTS: Final = ("limits", "requests")


def check(given: Object, at: str) -> Iterator[Cause]:
    """Check the requests and limits of one container."""
    amounts: dict[tuple[str, str], int] = {}
    for part in _PARTS:
        for name, value in (given.get(part) or {}).items():
            field = f"{at}.{part}[{name}]"
            yield from _named(field, name)
            try:
                amounts[part, name] = parse_nanos(value)
            except QuantityError as error:
                yield faults.invalid(field, value, str(error))
                continue
            if amounts[part, name] < 0:
                yield faults.invalid(field, value, "must be greater than or equal to 0")
            elif _is_device(name) and amounts[part, name] % _NANO:
                yield faults.invalid(field, value, "must be an integer")
    for name, value in (given.get("requests") or {}).items():
        yield from _compared(given, at, amounts, name, value)
    names = {name for part in _PARTS for name in given.get(part) or ()}
    if any(name.startswith(_HUGE) for name in names) and not names & {"cpu", "memory"}:
        yield faults.forbidden(at, "HugePages require cpu or memory")


def _named(field: str, name: str) -> Iterator[Cause]:
    if "/" in name:
        yield from qualified(field, name)
    elif name not in _STANDARD and not name.startswith(_HUGE):
        yield faults.invalid(field, name, "must be a standard resource for containers")


def _compared(
    given: Object, at: str, amounts: dict[tuple[str, str], int], name: str, value: object
) -> Iterator[Cause]:
    """Compare a request with its limit."""
    request, limit = (amounts.get((part, name)) for part in reversed(_PARTS))
    shared = name in _STANDARD
    if limit is None:
        if not shared and name not in (given.get("limits") or {}):
            why = "Limit must be set for non overcommitable resources"
            yield faults.required(f"{at}.limits", why)
        return
    shown = given["limits"][name]
    if request != limit and not shared:
        yield faults.invalid(f"{at}.requests", value, f"must be equal to {name} limit of {shown}")
    elif (request or 0) > limit:
        why = f"must be less than or equal to {name} limit of {shown}"
        yield faults.invalid(f"{at}.requests", value, why)


def _is_device(name: str) -> bool:
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")
