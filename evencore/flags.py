"""How settings are read: frozen, from flags and the environment.

A flag goes before its environment variable EVENCORE_<NAME>, that before the default. What is
unknown or wrong is told all at once, with both names and the allowed values.
Not for: which settings there are (evencore.settings).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "EVENCORE_"


class Settings(BaseSettings):
    """What all processes have."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    # auto: for people on a terminal, JSON lines elsewhere.
    log_format: Literal["auto", "console", "json"] = "auto"


class ClashError(ValueError):
    """Settings that are right by themselves, and do not go together."""

    def __init__(self, message: str, *names: str) -> None:
        super().__init__(message)
        self.names = names


S = TypeVar("S", bound=Settings)

# A kubelet tells every container of the Services in its namespace, in variables named after them;
# ours may well be called evencore or evencore-webhook.
_SERVICE_LINK = re.compile(r"EVENCORE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")


def load(settings: type[S], flags: Mapping[str, object]) -> tuple[S, list[str]]:
    """Read settings from flags (those that are not None) and the environment.

    Returns them with everything that is wrong, in sentences. In its place are defaults: they are
    there to look for more that is wrong, in files for one, and not to work with.
    """
    known = {_variable(name) for name in settings.model_fields}
    problems = [
        f"{name}: unknown; known: {', '.join(sorted(known))}"
        for name in sorted(os.environ)
        # pydantic would read evencore_workers too, but pass over evencore_worker.
        if name.upper().startswith(PREFIX)
        and name not in known
        and not _SERVICE_LINK.fullmatch(name)
    ]
    given: dict[str, Any] = {
        name: value for name, value in flags.items() if value not in (None, ())
    }
    try:
        return settings(**given), problems
    except ValidationError as error:
        for item in error.errors():
            names, problem = _problem(item)
            problems.append(problem)
            given |= {
                name: settings.model_fields[name].get_default(call_default_factory=True)
                for name in names
            }
    return settings(**given), problems


def said(name: str) -> str:
    """Name a setting as people write it: its flag, and its variable."""
    return f"--{name.replace('_', '-')} (or {_variable(name)})"


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _problem(error: Any) -> tuple[tuple[str, ...], str]:  # noqa: ANN401  pydantic's ErrorDetails, as dict
    """Give the settings that are wrong, and what is wrong with them in words."""
    clash = error.get("ctx", {}).get("error")
    if isinstance(clash, ClashError):
        return clash.names, str(clash)
    name = str(error["loc"][0])
    text = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    text = text.partition(", unable to parse")[0]  # says only once more that it is none
    return (name,), f"{said(name)}: {text}, not {error['input']!a}"
