"""Small pieces of the sentences that people read. No logic of ours."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from evencore.domain.quantity import format_millis

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

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


def clock(at: datetime) -> str:
    """Show a moment as sentences do: "10:42Z"."""
    return f"{at.astimezone(UTC):%H:%MZ}"


def duration(time: timedelta) -> str:
    """Show a duration as people write it: "10s", "1m30s", "2m"; below a second "500ms"."""
    if timedelta(0) < time < timedelta(seconds=1):
        return f"{time // timedelta(milliseconds=1)}ms"
    seconds = round(time.total_seconds())
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
