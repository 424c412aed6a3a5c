"""How settings are read: frozen, from flags and the environment.

A flag goes before its environment variable EVENCORE_<NAME>, that before the default. What is
unknown or wrong is told all at once, with both names and the allowed values.
Not for: which settings there are (evencore.settings).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, get_args

from evencore.domain.forms import choice
from evencore.domain.written import Written, keys, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.domain.written import Problem

PREFIX = "EVENCORE_"

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "console", "json"]


class Settings(Written, frozen=True):
    """What all processes have."""

    log_level: Annotated[LogLevel, choice(*get_args(LogLevel))] = "info"
    # auto: for people on a terminal, JSON lines elsewhere.
    log_format: Annotated[LogFormat, choice(*get_args(LogFormat))] = "auto"


S = TypeVar("S", bound=Settings)

# A kubelet tells every container of the Services in its namespace, in variables named after them;
# ours may well be called evencore or evencore-webhook.
_SERVICE_LINK = re.compile(r"EVENCORE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")


def load(settings: type[S], flags: Mapping[str, object]) -> tuple[S, list[str]]:
    """Read settings from flags (those that are not None) and the environment.

    Returns them with everything that is wrong, in sentences. In its place are defaults: they are
    there to look for more that is wrong, in files for one, and not to work with.
    """
    variables = {_variable(name): name for name in keys(settings)}
    unknown = [
        f"{name}: unknown; known: {', '.join(sorted(variables))}"
        for name in sorted(os.environ)
        # Somebody who writes evencore_workers means something.
        if name.upper().startswith(PREFIX)
        and name not in variables
        and not _SERVICE_LINK.fullmatch(name)
    ]
    given: dict[str, object] = {
        name: os.environ[variable] for variable, name in variables.items() if variable in os.environ
    }
    given |= {name: value for name, value in flags.items() if value not in (None, ())}
    made, problems = read(settings, given)
    return made, unknown + [_told(problem) for problem in problems]


def said(name: str) -> str:
    """Name a setting as people write it: its flag, and its variable."""
    return f"--{name.replace('_', '-')} (or {_variable(name)})"


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _told(problem: Problem) -> str:
    """Name the setting that is wrong; several that do not go together name themselves."""
    return f"{said(problem.way[0])}: {problem.text}" if problem.way else problem.text
