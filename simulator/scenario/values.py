"""The small values of scenario files: times, objects, amounts. Each says what it wants if wrong.

For: types of fields in `model`. Not for: whether an object is there; only the cluster knows.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, NamedTuple

from pydantic import BeforeValidator, PlainValidator

from evencore.domain.text import one_of, quoted
from simulator.resources import ALL, Resource

_DURATION: Final = re.compile(
    r"(?=\d)(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6}(?:\.\d{1,3})?)s)?", re.ASCII
)
_RANGE: Final = re.compile(r"(\d{1,9})(?:(\+)|-(\d{1,9}))?", re.ASCII)
_NAME: Final = re.compile(r"[a-z0-9]([-.:a-z0-9]{0,250}[a-z0-9])?")
_ADDRESS: Final = re.compile(r"(?P<host>[^:=\s/]+):(?P<port>[0-9]{1,5})")
_SERVICE: Final = re.compile(r"(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9-]+)")


def _seconds(value: object) -> float:
    if isinstance(value, float) or (value == 0 and not isinstance(value, bool)):
        return float(value)  # 0 is 0 in every unit
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("must be a time with its unit, such as 30s, 2m or 1h30m")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


Duration = Annotated[float, BeforeValidator(_seconds)]
"""Seconds of the cluster's time."""


class Reference(NamedTuple):
    """An object by kind and name, as kubectl takes it: deployment/shop, node/autokh-1."""

    resource: Resource
    name: str

    def __str__(self) -> str:
        return f"{self.resource.singular}/{self.name}"


def _names(resource: Resource) -> tuple[str, ...]:
    return (resource.plural, resource.singular, *resource.short_names)


_BY_NAME: Final = {name: one for one in reversed(ALL) for name in _names(one)}


def _reference(value: object) -> Reference:
    if isinstance(value, Reference):
        return value
    kind, _, name = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not _NAME.fullmatch(name):
        raise ValueError("must be a kind and a name, such as deployment/shop or node/autokh-1")
    found = _BY_NAME.get(kind.lower())
    if found is None:
        known = one_of(sorted({one.singular for one in ALL}))
        raise ValueError(f"must name {known}, such as deployment/shop")
    return Reference(found, name)


Ref = Annotated[Reference, PlainValidator(_reference)]


class Range(NamedTuple):
    """How many are expected: 10, 500-700, or 500+ for at least so many."""

    least: int
    most: int | None

    def __contains__(self, number: object) -> bool:
        return (
            isinstance(number, int)
            and number >= self.least
            and (self.most is None or number <= self.most)
        )

    def __str__(self) -> str:
        if self.most is None:
            return f"at least {self.least}"
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def _range(value: object) -> Range:
    if isinstance(value, Range):
        return value
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    match = _RANGE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError("must be a number or a range: 10, 500-700, or 500+ for at least 500")
    least, open_, most = int(match[1]), match[2], int(match[3] or match[1])
    if most < least:
        raise ValueError(f"ends before it begins: write {most}-{least}")
    return Range(least, None if open_ else most)


Amount = Annotated[Range, PlainValidator(_range)]


def _speed(value: object) -> float | None:
    """Read a clock: None is one that jumps, else how many times as fast as real time."""
    if value is None or value == "virtual":
        return None
    try:
        speed = 1.0 if value == "real" else float(str(value))
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf") or isinstance(value, bool):
        raise ValueError("must be virtual, real, or how many times as fast as real time, such as 5")
    return speed


Speed = Annotated[float | None, BeforeValidator(_speed)]

Services = dict[tuple[str, str], tuple[str, int]]


def _services(value: object) -> Services:
    """Read a map from NAMESPACE/NAME of a Service to HOST:PORT."""
    wanted = "must be a map from NAMESPACE/NAME to HOST:PORT, such as shop/web: 127.0.0.1:8443"
    if not isinstance(value, dict):
        raise ValueError(wanted)  # noqa: TRY004  pydantic wants ValueError
    found: Services = {}
    for service, address in value.items():
        name, place = _SERVICE.fullmatch(str(service)), _ADDRESS.fullmatch(str(address))
        if name is None or place is None:
            raise ValueError(f"{wanted}; not {quoted(service)}: {quoted(address)}")
        found[name["namespace"], name["name"]] = place["host"], int(place["port"])
    return found


ServiceMap = Annotated[Services, PlainValidator(_services)]
