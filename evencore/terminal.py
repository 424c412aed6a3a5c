"""What commands for people ask of the terminal, and the kinds of values that they take."""

from __future__ import annotations

import os
import re
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Iterable


WRONG_INPUT: Final = 2
"""What click itself exits with on wrong usage."""


def fail(problems: Iterable[str]) -> NoReturn:
    """End with the exit status of wrong input and every problem on a line of its own."""
    for problem in problems:
        shown = "".join(char if char.isprintable() else "?" for char in problem)
        click.echo(f"evencore: {shown}", err=True)
    sys.exit(WRONG_INPUT)


def is_terminal() -> bool:
    """Tell whether somebody looks at what is printed."""
    return sys.stdout is not None and sys.stdout.isatty()


def colour_wanted() -> bool:
    """Only on a terminal, and not if it or its owner wants none (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and is_terminal()


# What several commands take, in the same words.
policy_option = click.option(
    "--policy", metavar="FILE", help="The policy file of webhook and controller."
)
manifest_namespace_option = click.option(
    "-n",
    "--namespace",
    default="",
    metavar="NAME",
    help="Where manifests will go that name no namespace.",
)

INTERRUPTED: Final = 130
"""What shells make of an end by Ctrl-C."""


class Group(click.Group):
    """A command of commands, whose help tells of each in a whole sentence.

    Ctrl-C ends them quietly, and not with click's "Aborted!" and 1, which looks like a failure.
    """

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that is asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them; click itself cuts what is longer than a line."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(_SENTENCE)) for name, one in commands if one]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


_SENTENCE: Final = 200


class Age(click.ParamType[timedelta]):
    """How old something is: 90s, 5m, 2h, 3d, or several of them: 1d12h."""

    name = "age"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it."""
        if isinstance(value, timedelta):
            return value
        match = _AGE.fullmatch(str(value))
        if match is None or not value:
            self.fail(f"{value!a} is no age: write 90s, 5m, 2h or 3d", param, ctx)
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


_AGE: Final = re.compile(
    r"(?:([0-9]{1,4})d)?(?:([0-9]{1,5})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,7})s)?"
)
