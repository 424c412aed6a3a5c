"""Small pieces of the sentences that people read. No logic of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.domain.quantity import format_millis

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 40  # characters of somebody's value within a sentence


def one_of(values: Iterable[object], last: str = "or") -> str:
    """List alternatives: "a", "a or b", "a, b or c"."""
    *first, final = [str(value) for value in values]
    return f"{', '.join(first)} {last} {final}" if first else final


def quoted(value: object) -> str:
    """Show somebody's value safely: quoted, control characters escaped, cut short."""
    shown = ascii(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


cpus = format_millis  # in sentences: 2500 → "2500m", 4000 → "4"


def count(number: int, noun: str) -> str:
    """Count things: "1 node", "3 nodes"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def cut(text: str, limit: int) -> str:
    """Shorten to less than `limit` bytes of UTF-8, on a character's boundary."""
    encoded = text.encode(errors="replace")
    if len(encoded) < limit:
        return text
    return encoded[: limit - 4].decode(errors="ignore") + "..."
