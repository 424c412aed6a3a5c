"""docs/simulate.md and docs/explain.md show what is really printed, and name every key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from builders import NOW
from cli.simulating import deployment, machine, run
from click.testing import CliRunner
from standing_builders import numa, sized

from evencore.explain_command import make_explain_command

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "simulate.md").read_text()
EXPLAIN = (DOCS / "explain.md").read_text()
UNTOLD = [sized("n3", threadsPerCore=2, scope="container"), numa("n3", (24, 22, 22), (24, 24, 24))]
SCENE = [
    *machine("n1", 12, 14),
    *machine("n2", 6, 24),
    *UNTOLD,
    {
        "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"evencore.io/admission": "enabled"}},
    },
]


@pytest.fixture(autouse=True)
def files(there: None) -> None:  # noqa: ARG001  in a directory of its own
    Path("dump.json").write_text(json.dumps({"kind": "List", "items": SCENE}))
    Path("web.yaml").write_text(json.dumps(deployment(15, 4)))


def block(page: str, command: str) -> str:
    """Return what a page shows below a command."""
    return page.partition(f"$ {command}\n")[2].partition("```")[0]


@pytest.mark.parametrize("args", ["", " --plain"])
def test_the_page_shows_what_is_printed(args: str) -> None:
    command = f"evencore simulate -f dump.json --with web.yaml=6{args}"
    assert block(PAGE, command) == run(*command.split()[2:]).stdout


def test_the_page_of_explain_shows_what_kubelets_would_say_now() -> None:
    command = "evencore explain -f web.yaml --nodes dump.json"
    shown = CliRunner().invoke(make_explain_command(None, lambda: NOW), command.split()[2:]).stdout
    assert block(EXPLAIN, command) == shown


def keys(value: Any) -> set[str]:  # noqa: ANN401  any JSON
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if isinstance(value, dict):
        own = {key for key in value if key[0].isalpha()}
        return own | {key for item in value.values() for key in keys(item)}
    return set()


def test_every_key_for_machines_is_on_the_page() -> None:
    for args in ((), ("--plain",)):
        report = run("-f", "dump.json", "--with", "web.yaml=6", *args, "-o", "json").stdout
        outcomes = {"admitted", "loops", "rejected", "held", "pending", "denied", "unknown"}
        for key in keys(json.loads(report)) - outcomes:
            assert re.search(rf"`[^`]*\b{key}\b", PAGE), key


def test_every_key_of_now_is_on_the_page_of_explain() -> None:
    args = ("-f", "web.yaml", "--nodes", "dump.json", "-o", "json")
    report = CliRunner().invoke(make_explain_command(None, lambda: NOW), args).stdout
    now = json.loads(report)["pods"][0]["now"]
    assert {one["verdict"] for one in now} == {"admitted", "rejected"}
    row = EXPLAIN.partition("| `.now[]` |")[2].partition("\n")[0]
    assert {key for key in keys(now) if f"`{key}`" not in row} == set()
