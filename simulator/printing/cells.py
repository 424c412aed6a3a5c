"""Small pieces of cells: ages, images, selectors, and what a column is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulator.clock import parse_timestamp
from simulator.objects import dig

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object

NONE: Final = "<none>"
UNKNOWN: Final = "<unknown>"

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 86400 * 365


@dataclass(frozen=True, slots=True)
class Column:
    """One column; those with a priority are shown by -o wide only."""

    name: str
    type: str = "string"
    priority: int = 0
    format: str = ""

    def definition(self) -> Object:
        """Describe it as a Table does."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


class Printer(NamedTuple):
    """The columns of a kind and what makes the cells of an object."""

    columns: tuple[Column, ...]
    cells: Callable[[Object, float], list[Any]]


NAME: Final = Column("Name", format="name")
AGE: Final = Column("Age")


def wide(*names: str) -> tuple[Column, ...]:
    """Make columns that only -o wide shows."""
    return tuple(Column(name, priority=1) for name in names)


def duration(seconds: float) -> str:
    """Write a span as people read it, in at most two units.

    Kubernetes rule (HumanDuration): 119s, 2m30s to 10m, then minutes; 3h5m to 8h, then hours;
    2d5h to 8d, then days; years from two on.
    """
    whole = int(seconds)
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    return f"{whole // large}{large_name}" + (f"{rest}{small_name}" if rest else "")


def since(moment: str | None, now: float) -> str:
    """Write how long ago a moment was."""
    return duration(now - parse_timestamp(moment)) if moment else UNKNOWN


def age_of(obj: Object, now: float) -> str:
    """Write how old an object is."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def containers_and_images(template: Object) -> list[str]:
    """Name the containers of a pod template and their images."""
    containers = dig(template, "spec", "containers") or []
    return [
        ",".join(one.get("name", "") for one in containers),
        ",".join(one.get("image", "") for one in containers),
    ]


def selector_text(selector: Object | None) -> str:
    """Write the selector of a workload as -l takes it."""
    parts = [
        f"{key}={value}" for key, value in sorted((dig(selector, "matchLabels") or {}).items())
    ]
    for one in dig(selector, "matchExpressions") or ():
        values = ",".join(one.get("values") or ())
        parts.append(
            {
                "In": f"{one['key']} in ({values})",
                "NotIn": f"{one['key']} notin ({values})",
                "Exists": one["key"],
                "DoesNotExist": f"!{one['key']}",
            }[one["operator"]]
        )
    return ",".join(parts) or NONE


def map_text(labels: dict[str, str] | None) -> str:
    """Write a plain selector map."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE
