"""What the reports for machines of all commands have in common."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Final, overload

if TYPE_CHECKING:
    from datetime import datetime

API_VERSION: Final = "evencore.io/v1"

Object = dict[str, Any]


@overload
def moment(at: datetime) -> str: ...
@overload
def moment(at: None) -> None: ...
def moment(at: datetime | None) -> str | None:
    """Write a moment as Kubernetes does, in UTC and whole seconds: 2026-11-30T10:42:00Z."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
