"""What commands ask of the terminal, and ages as people write them."""

from __future__ import annotations

from datetime import timedelta

import click
import pytest

from evencore import terminal
from evencore.terminal import Age, colour_wanted


@pytest.mark.parametrize(
    ("variables", "tty", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),  # as no-color.org says: when it is not empty
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    tty: bool,  # noqa: FBT001
    wanted: bool,  # noqa: FBT001
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(terminal, "is_terminal", lambda: tty)
    assert colour_wanted() is wanted


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("90s", timedelta(seconds=90)),
        ("5m", timedelta(minutes=5)),
        ("2h", timedelta(hours=2)),
        ("3d", timedelta(days=3)),
        ("1d12h", timedelta(days=1, hours=12)),
        ("0s", timedelta(0)),
    ],
)
def test_ages(text: str, age: timedelta) -> None:
    assert Age().convert(text, None, None) == age


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-5m", "5m2h", "1.5h", "5M"])
def test_what_is_no_age_is_told(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write 90s, 5m, 2h or 3d"):
        Age().convert(text, None, None)
