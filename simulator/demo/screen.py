"""Onto a terminal, redrawn in place; or line by line where nobody looks.

For: the few control sequences that this takes. Not for: what is shown.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final, Self

import click

from evencore.terminal import is_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

# Cursor and line wrapping off: what is wider than the terminal is cut, and every line is one row.
_BEGIN: Final = "\x1b[?25l\x1b[?7l"
_END: Final = "\x1b[?7h\x1b[?25h"
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"


def can_redraw(columns: int, rows: int) -> bool:
    """Tell whether there is a terminal, and one that is large enough."""
    size = shutil.get_terminal_size()
    return (
        is_terminal()
        and os.environ.get("TERM") not in (None, "", "dumb")
        and size.columns >= columns
        and size.lines > rows
    )


class Screen:
    """Enter it as a context; it leaves the terminal as it was."""

    def __init__(self, *, redraws: bool) -> None:
        self.redraws = redraws
        self._rows = 0

    def __enter__(self) -> Self:
        if self.redraws:
            click.echo(_BEGIN, nl=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self.redraws:
            click.echo(_END, nl=False)

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines in place of those before; nothing where nothing is redrawn."""
        if not self.redraws:
            return
        up = f"\x1b[{self._rows}F" if self._rows else ""
        body = "".join(f"{line}{_CLEAR_LINE}\n" for line in lines)
        click.echo(f"{up}{body}{_CLEAR_BELOW}", nl=False)
        self._rows = len(lines)

    def clear(self) -> None:
        """Take away what was drawn."""
        self.draw(())
        self._rows = 0

    def tell(self, line: str) -> None:
        """Print a line where nothing is redrawn."""
        if not self.redraws:
            click.echo(line)
