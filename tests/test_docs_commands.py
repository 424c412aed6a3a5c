"""What README and docs tell people to type is there: commands, options, files, make targets."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from msgspec import structs

from evencore.cli import main
from evencore.domain.written import keys
from evencore.flags import PREFIX
from evencore.settings import ControllerSettings, WebhookSettings

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("deploy/**/*.md")]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=NAMES)

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_SUFFIXES = "py|yaml|md|toml|json|gz|go"


def code(page: Path) -> list[str]:
    """Return what stands in backticks."""
    return [found.strip("`") for found in _CODE.findall(page.read_text())]


def commands(page: Path) -> list[str]:
    """Return each `evencore …` up to what ends a command."""
    text = "\n".join(code(page)).replace("\\\n", " ")
    found = re.findall(r"(?m)(?:^|[$|(&] ?)evencore ([a-z][^\n|)#>&;…]*)", text)
    return [one.strip() for one in found]


@cache
def files() -> frozenset[str]:
    """Return every file of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607  whichever git there is
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return frozenset(listed.stdout.splitlines())


def wrong(line: str) -> str | None:
    """Say what is wrong with the words behind `evencore`."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(click.Context(command), words[0])
        if inner is None:
            return f"no command {words[0]}"
        command, words = inner, words[1:]
    known = {"--help", "-h", *(o for p in command.params for o in p.opts)}
    flags = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return f"no option {sorted(flags - known)}" if flags - known else None


@EACH_PAGE
def test_commands_and_their_options_are_there(page: Path) -> None:
    found = {line: why for line in commands(page) if (why := wrong(line))}
    assert found == {}


def named(page: Path) -> set[str]:
    """Return the files that a page names with a folder of ours."""
    folders = {part for file in files() for part in file.split("/")[:-1]}
    pattern = rf"(?<![\w/.<{{-])(([a-z_]\w*)/[\w./-]+\.(?:{_SUFFIXES}))\b"
    found = (match for text in code(page) for match in re.findall(pattern, text))
    return {name for name, folder in found if folder in folders}


@EACH_PAGE
def test_files_that_are_named_are_there(page: Path) -> None:
    beside = page.parent.relative_to(ROOT)
    there = {*files(), *(file[i:] for file in files() for i in _starts(file))}
    assert {name for name in named(page) if not {name, str(beside / name)} & there} == set()


def _starts(file: str) -> list[int]:
    return [match.end() for match in re.finditer("/", file)]


@EACH_PAGE
def test_links_into_a_page_lead_to_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        there = (page.parent / target).read_text() if target else page.read_text()
        headings = re.findall(r"(?m)^#+ (.+)$", there)
        anchors = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
        assert anchor in anchors


@EACH_PAGE
def test_make_targets_and_modules_are_there(page: Path) -> None:
    text = "\n".join(code(page))
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?m)^(?:\$ )?make ([a-z]+)\b", text):
        assert re.search(rf"(?m)^{target}:", makefile), target
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert find_spec(module) or (ROOT / module.replace(".", "/")).exists(), module


@EACH_PAGE
def test_environment_variables_are_settings(page: Path) -> None:
    known = {name.upper() for one in (WebhookSettings, ControllerSettings) for name in keys(one)}
    named = set(re.findall(rf"`{PREFIX}([A-Z_]+)", page.read_text()))
    assert named <= known


def options(name: str) -> list[click.Parameter]:
    """Return the options of a command."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command.params


@pytest.mark.parametrize(
    ("name", "settings"), [("webhook", WebhookSettings), ("controller", ControllerSettings)]
)
def test_every_setting_is_an_option_and_every_option_a_setting(
    name: str, settings: type[WebhookSettings | ControllerSettings]
) -> None:
    assert {param.name for param in options(name)} == set(keys(settings))


def test_they_find_something() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    assert len(lines) > 70
    assert len({name for page in PAGES for name in named(page)}) > 50
    assert {line.split()[0] for line in lines} >= set(main.list_commands(click.Context(main)))
    assert wrong("cluster up --no-such-option") == "no option ['--no-such-option']"
    assert wrong("nothing") == "no command nothing"


@pytest.mark.parametrize(
    ("name", "settings"), [("webhook", WebhookSettings), ("controller", ControllerSettings)]
)
def test_the_help_tells_the_defaults_that_hold(
    name: str, settings: type[WebhookSettings | ControllerSettings]
) -> None:
    told = {param.name: getattr(param, "help", "") for param in options(name)}
    for field in structs.fields(settings):
        if isinstance(default := field.default, str | int | float) and default != "":
            shown = f"{default:g}" if isinstance(default, float) else str(default)
            assert f"[default: {shown}]" in told[field.name]
