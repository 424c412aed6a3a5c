"""Tables for people in a terminal: columns as wide as they must be, the last one wrapped.

For: what commands for admins print. Not for: what is in the cells, or where they are written.
Names come from other people's objects, so nothing unprintable reaches the terminal.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH: Final = 120
_GAP: Final = 2
_ARROW: Final = "  → "
_LEAST_LAST: Final = 20
"""Columns that the last one gets at least; where names are so long, lines are longer than WIDTH."""

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"


class Pen(NamedTuple):
    """Colours words if that is wanted."""

    colour: bool

    def paint(self, text: str, code: str) -> str:
        """Return the text, in a colour of ANSI."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


class Row(NamedTuple):
    """The cells of a line, and the colour of the one that is painted."""

    cells: Sequence[str]
    painted: int = -1
    code: str = ""
    below: Sequence[str] = ()  # sentences that belong to it


def table(
    titles: Sequence[str], rows: Sequence[Row], pen: Pen, width: int | None = WIDTH
) -> Iterator[str]:
    """Yield the lines of a table; `width` None: nothing is wrapped."""
    shown = [
        row._replace(
            cells=[printable(cell) for cell in row.cells],
            below=[printable(text) for text in row.below],
        )
        for row in rows
    ]
    widths = [
        max(len(title), *(len(row.cells[column]) for row in shown), 0)
        for column, title in enumerate(titles[:-1])
    ]
    indent = sum(widths) + _GAP * len(widths)
    last = None if width is None else max(width - indent, _LEAST_LAST)
    head = "".join(title.ljust(w + _GAP) for title, w in zip(titles, widths, strict=False))
    yield pen.paint(head + titles[-1], BOLD)
    for row in shown:
        *first, final = row.cells
        cells = [
            pen.paint(cell, row.code if column == row.painted else "")
            + " " * (widths[column] + _GAP - len(cell))
            for column, cell in enumerate(first)
        ]
        lines = wrapped(final, last)
        yield ("".join(cells) + lines[0]).rstrip()
        yield from (" " * indent + line for line in lines[1:])
        for sentence in row.below:
            below = wrapped(sentence, None if width is None else width - len(_ARROW))
            yield _ARROW + below[0]
            yield from (" " * len(_ARROW) + line for line in below[1:])


def wrapped(text: str, width: int | None) -> list[str]:
    """Break a text into lines; None: leave it as one."""
    if width is None:
        return [text]
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def printable(text: str) -> str:
    """Return the text without anything that could steer a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
