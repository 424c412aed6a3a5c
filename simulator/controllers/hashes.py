"""The hash of a pod template, as it stands in names and labels. Pure.

Kubernetes: ComputeHash (FNV-1a, 32 bit) and rand.SafeEncodeString. The number differs from a real
cluster's, which hashes its own memory layout; the form is the same: letters and digits without
vowels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from simulator.objects import Object

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET: Final = 2166136261
_PRIME: Final = 16777619


def template_hash(template: Object, collisions: int = 0) -> str:
    """Give the same text for the same template, whatever the order of its keys."""
    number = _OFFSET
    content = msgspec.json.encode(template, order="deterministic")
    for byte in content + (str(collisions).encode() if collisions else b""):
        number = (number ^ byte) * _PRIME % 2**32
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))
