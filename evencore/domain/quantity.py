"""Exact Kubernetes amounts: read and written with integers, never with floats.

The grammar is that of k8s.io/apimachinery/pkg/api/resource/quantity.go:
sign? digits (. digits)? then one suffix of n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_GRAMMAR: Final = re.compile(
    r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eE][+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))"
)
_DECIMAL: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO: Final = 9  # quantity.go keeps nine decimal places and rounds smaller rests up

# No real amount comes near these; without them 1e999999999 would cost gigabytes of memory.
_LONGEST: Final = 64  # characters
_LARGEST_EXPONENT: Final = 40
_LARGEST_SCALE: Final = _LARGEST_EXPONENT + _NANO
_LONGEST_SHOWN: Final = 40  # characters of a wrong value in a message

_GRAMMAR_IN_WORDS: Final = "such as 2, 2500m, 0.5 or 1e3 (units n u m k M G T P E, Ki to Ei)"


class QuantityError(ValueError):
    """A value that is no Kubernetes quantity, or one that no machine could have."""


def parse_nanos(value: object) -> int:
    """Read a quantity exactly, in units of 10⁻⁹; smaller rests are rounded up (quantity.go does).

    `value` is what JSON or YAML gave: text, an integer, or the text of a JSON number. A float is
    read through its shortest spelling. Raises QuantityError for anything else, for values outside
    the grammar, and for amounts of more than 10⁴⁰.
    """
    if type(value) is str:
        return _nanos(value)
    if type(value) is int:
        return _nanos(str(value)) if abs(value) < 10**_LARGEST_EXPONENT else _refuse(value)
    if type(value) is float:
        return _nanos(repr(value))
    return _refuse(value)


def parse_millis(value: object) -> int:
    """Read an amount in thousandths, rounded up, as the API server's defaulting stores it.

    Kubernetes rule: `SetDefaults_ResourceList` rounds every request and limit up to a milli.
    Raises QuantityError, also for negative amounts: no request or limit may be below zero.
    """
    return _millis_of_text(value) if type(value) is str else _millis(value)


def _millis(value: object) -> int:
    nanos = parse_nanos(value)
    if nanos < 0:
        raise QuantityError(f"{_show(value)} is negative")
    return -(-nanos // 1_000_000)


# Pods of a cluster repeat a few hundred spellings. Only for text: 1, 1.0 and True are one key.
_millis_of_text = lru_cache(maxsize=4096)(_millis)


@lru_cache(maxsize=4096)
def format_millis(millis: int) -> str:
    """Write an amount of thousandths as Kubernetes prints it: 2500 → "2500m", 4000 → "4"."""
    return f"{millis}m" if millis % 1000 else str(millis // 1000)


def _nanos(text: str) -> int:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return _refuse(text)
    sign, whole, fraction, exponent, binary, decimal = match.groups(default="")
    digits = whole + fraction
    if not digits:
        return _refuse(text)
    number = int(digits)
    scale = _NANO - len(fraction)
    if binary:
        number <<= _BINARY[binary]
    else:
        scale += int(exponent[1:]) if exponent else _DECIMAL[decimal]
    if not number:
        return 0
    if scale > _LARGEST_SCALE:
        return _refuse(text)
    # No text is long enough to leave anything but a rest behind more places than this.
    divisor: int = 10 ** min(max(-scale, 0), 3 * _LONGEST)
    factor: int = 10 ** max(scale, 0)
    nanos = -(-number * factor // divisor)
    if nanos > 10**_LARGEST_SCALE:
        return _refuse(text)
    return -nanos if sign == "-" else nanos


def _refuse(value: object) -> int:
    raise QuantityError(f"{_show(value)} is no Kubernetes quantity, {_GRAMMAR_IN_WORDS}")


def _show(value: object) -> str:
    number = type(value) is float or (type(value) is int and abs(value) < 10**_LONGEST)
    shown = ascii(value) if number or isinstance(value, str) else f"a {type(value).__name__}"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
