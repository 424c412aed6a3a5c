"""What commands ask of the terminal, and ages as people write them."""

from __future__ import annotations

import subprocess
import sys
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


INTERRUPTED = """
import importlib.abc, os, signal, sys
class CtrlC(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, CtrlC())
from evencore.__main__ import run
run()
"""


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("evencore.cli", ["--help"]),
        ("simulator.command", ["cluster", "run", "any.yaml"]),
        ("evencore.admin", ["doctor"]),
        ("evencore.settings", ["webhook"]),
    ],
    ids=["of all commands", "of a group", "of commands of admins", "of a command by itself"],
)
def test_who_presses_ctrl_c_during_the_imports_gets_130_and_no_words(
    module: str, command: list[str]
) -> None:
    program = INTERRUPTED.format(module=module)
    done = subprocess.run(
        [sys.executable, "-c", program, *command], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")
