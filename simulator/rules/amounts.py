"""Quantities in the spelling in which the API server stores them.

Kubernetes rule (Quantity.CanonicalizeBytes): no fraction, the largest suffix of the same family
that leaves none: 1000m → 1, 0.5 → 500m, 1024Mi → 1Gi, 4e0 → 4. What is no quantity stays as it
is, for validation to tell.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.quantity import QuantityError, parse_nanos

if TYPE_CHECKING:
    from simulator.objects import Object

_DECIMAL: Final = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NANO: Final = 10**9


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Spell a quantity as it is stored. Raises QuantityError."""
    nanos = parse_nanos(text)
    if text[-1:] == "i" and nanos % _NANO == 0:
        return _scaled(nanos // _NANO, 1024, _BINARY)
    if any(mark in text for mark in "eE") and text[-1:].isdigit():
        return _exponent(nanos)
    return _scaled(nanos, 1000, _DECIMAL)


def binary(number: int) -> str:
    """Spell a whole number of bytes."""
    return _scaled(number, 1024, _BINARY)


def _scaled(number: int, base: int, suffixes: tuple[str, ...]) -> str:
    place = 0
    while number and number % base == 0 and place + 1 < len(suffixes):
        number, place = number // base, place + 1
    return f"{number}{suffixes[place]}" if number else "0"


def _exponent(nanos: int) -> str:
    """Kubernetes rule: what came with an exponent keeps one, in steps of three."""
    power = -9
    while nanos and nanos % 1000 == 0:
        nanos, power = nanos // 1000, power + 3
    if not nanos:
        return "0"
    return f"{nanos}e{power}" if power else str(nanos)


def canonical_resources(resources: Object) -> Object:
    """Spell the requests and limits of a container canonically."""
    return {
        part: canonical_list(value) if part in ("requests", "limits") else value
        for part, value in resources.items()
    }


def canonical_list(amounts: Any) -> Any:  # noqa: ANN401  what a client sent
    """Spell every amount of a resource list canonically."""
    if not isinstance(amounts, dict):
        return amounts
    return {name: _lenient(value) for name, value in amounts.items()}


def _lenient(value: Any) -> Any:  # noqa: ANN401  what a client sent
    try:
        # Numbers are allowed for people's sake and stored as text.
        return canonical(value if isinstance(value, str) else str(value))
    except QuantityError:
        return value
