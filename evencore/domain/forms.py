"""Forms in which people write values: numbers, words, durations, lists.

Each reads strictly: its ValueError says what is allowed. How maps are made of them:
evencore.domain.written.
"""

from __future__ import annotations

import re
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from evencore.domain.quantity import format_millis, parse_millis
from evencore.domain.text import one_of
from evencore.domain.written import Form, WithinError, within

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from evencore.domain.written import Problem

T = TypeVar("T")
C = TypeVar("C", bound="Collection[Any]")


def _same(value: T) -> T:
    return value


def choice(*values: T) -> Form[T]:
    """Give the form of one of a few: words, numbers, or members of an Enum by their values."""
    plain = [(value.value if isinstance(value, Enum) else value, value) for value in values]
    allowed = one_of(ascii(word) for word, _ in plain)

    def read(value: object) -> T:
        for word, meant in plain:
            if type(value) is type(word) and value == word:  # True is not 1
                return meant
        raise ValueError(f"must be {allowed}")

    words = {meant: word for word, meant in plain}
    return Form(read, words.__getitem__)


def whole(least: int, most: int, *, quotes: bool = True) -> Form[int]:
    """Give the form of a whole number of this range. With `quotes` it may be text."""

    def read(value: object) -> int:
        found = _number(int, value) if quotes and isinstance(value, str) else value
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return found

    return Form(read, _same)


def number(least: float, most: float) -> Form[float]:
    """Give the form of a number of this range, which may be text."""

    def read(value: object) -> float:
        found = _number(float, value) if isinstance(value, str) else value
        if (
            not isinstance(found, int | float)
            or isinstance(found, bool)
            or not least <= found <= most
        ):
            raise ValueError(f"must be a number from {least:g} to {most:g}")
        return float(found)

    return Form(read, _same)


def _number(kind: Callable[[str], T], text: str) -> T | None:
    try:
        return kind(text) if text.isascii() else None  # Python reads the digits of all scripts
    except ValueError:
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004  what is wrong is a ValueError here
    try:
        value.encode()
    except UnicodeEncodeError:  # bytes of a variable, or half a pair: no log can hold it
        raise ValueError("must be text in UTF-8") from None
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004  as above
    return value


_LONGEST = timedelta(hours=9999)
_DURATION = re.compile(
    r"(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m(?!s))?(?:([0-9]{1,8})s)?(?:([0-9]{1,6})ms)?"
)


def _duration(value: object) -> timedelta:
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if match is None:
        raise ValueError("write a duration such as 90s, 2m or 1h30m")
    hours, minutes, seconds, millis = (int(part or 0) for part in match.groups())
    found = timedelta(hours=hours, minutes=minutes, seconds=seconds, milliseconds=millis)
    if found > _LONGEST:
        raise ValueError("must be at most 9999h")
    return found


def in_seconds(duration: timedelta) -> str:
    """Write a duration exactly: 90s, 1s500ms."""
    seconds, rest = divmod(duration, timedelta(seconds=1))
    millis = rest // timedelta(milliseconds=1)
    return f"{seconds}s{millis}ms" if millis else f"{seconds}s"


TEXT = Form(_text, _same)
TRUTH = Form(_truth, _same)
DURATION = Form(_duration, in_seconds)  # as Kubernetes writes it: 90s, 2m, 1h30m, 500ms
CPU = Form(parse_millis, format_millis)  # a quantity; kept in thousandths


def listed(
    form: Form[T], make: Callable[[Iterable[T]], C], sizes: tuple[int, int] | None = None
) -> Form[C]:
    """Give the form of a list, of least and most so many values, kept as `make` makes it."""

    def read(value: object) -> C:
        if not isinstance(value, list | tuple):
            raise ValueError("must be a list")  # noqa: TRY004  as above
        if sizes and not sizes[0] <= len(value) <= sizes[1]:
            raise ValueError(f"must be a list of {sizes[0]} to {sizes[1]}")
        good: list[T] = []
        problems: list[Problem] = []
        for place, item in enumerate(value):
            try:
                good.append(form.read(item))
            except ValueError as error:
                problems += within(place, error, item)
        if problems:
            raise WithinError(problems)
        return make(good)

    def write(values: C) -> list[Any]:
        found: list[Any] = [form.write(value) for value in values]
        return sorted(found) if isinstance(values, frozenset) else found

    return Form(read, write)


def optional(form: Form[T]) -> Form[T | None]:
    """Give the form of what may be None."""
    return Form(
        lambda value: None if value is None else form.read(value),
        lambda value: None if value is None else form.write(value),
    )
