"""What a check finds: a stable id, whose fault, what is wrong, and one command that mends it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evencore.doctor.world import World


class Severity(StrEnum):
    """How bad it is; the first three count for the exit status."""

    ERROR = "error"  # evencore does not do its work, or somebody is harmed
    WARNING = "warning"  # some pods do not get what they should
    UNKNOWN = "unknown"  # could not be looked at
    NOTE = "note"  # worth knowing


class Finding(NamedTuple):
    """One thing that is wrong. `id` is a promise: docs/doctor.md lists all."""

    id: str
    severity: Severity
    object: str
    text: str
    remedy: str  # a command


class Check(NamedTuple):
    """A check."""

    what: str  # is looked at, in words
    needs: tuple[str, ...]  # parts of the world, see `World.missing`
    run: Callable[[World], Iterator[Finding]]
