"""`make demo`: as it is; into a terminal, and interrupted; with a promise that cannot be kept."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from simulator.demo import run
from simulator.demo.companions import DemoError
from simulator.scenario.reading import scenario

if TYPE_CHECKING:
    from simulator.scenario.reading import Scenario

COMMAND = [sys.executable, "-m", "simulator.demo"]
STORY = Path(run.__file__).with_name("story.yaml")
README = (Path(__file__).parents[2] / "README.md").read_text()


def environment(temporary: Path, **more: str) -> dict[str, str]:
    """Give an environment of its own: all files of the demo are in one folder."""
    return {**os.environ, "TMPDIR": str(temporary), **more}


def left_behind(temporary: Path) -> list[str]:
    """List files, and processes that were started with files, in a folder."""
    commands = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(process.read_text())
        except OSError:  # ended meanwhile
            continue
    return [*map(str, temporary.iterdir()), *(one for one in commands if str(temporary) in one)]


def rows(printed: str) -> dict[str, list[str]]:
    """Read the last table: workload → its numbers and what is said of its promise."""
    table = printed.partition("promised\n")[2].partition("\n\n")[0]
    number = r" +(\d+)"
    line = re.compile(rf"(\w+) +(?:\d+ x )?\w+{number * 5}   (.*)")
    found = [line.fullmatch(row) for row in table.splitlines()]
    return {one[1]: list(one.groups()[1:]) for one in found if one}


def test_the_demo_shows_the_loop_and_keeps_its_promises(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND, capture_output=True, text=True, check=False, env=environment(tmp_path)
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr + done.stdout
    assert "\x1b" not in done.stdout
    shown = rows(done.stdout)
    assert list(shown) == ["night", "odd", "fraction", "fits", "never", "burst", "train"]
    assert all(row[-1].endswith(": kept") for row in shown.values())

    # About 150 each: they share the 20 writes a second of one controller.
    for workload in ("odd", "never"):
        plain_failed, plain_running, ours_failed, *_ = map(int, shown[workload][:-1])
        assert plain_failed > 50
        assert plain_running == 0
        assert ours_failed <= 3

    for reason in ("CPUAligned", "TopologyRejected", "PodHeld", "PodReleased"):
        assert re.search(rf"^  {reason}\b", done.stdout, re.MULTILINE)
    # How often pods failed depends on the machine, what is promised and kept does not.
    assert {name: row[4:] for name, row in rows(README).items()} == {
        name: row[4:] for name, row in shown.items()
    }
    assert left_behind(tmp_path) == []


def test_in_a_terminal_it_is_redrawn_and_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    size = environment(tmp_path, TERM="xterm", COLUMNS="100", LINES="40", NO_COLOR="1")
    with subprocess.Popen(
        COMMAND, stdin=theirs, stdout=theirs, stderr=theirs, env=size, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        while shown.count(b"\x1b[15F") < 2:  # back to the first of 15 lines, twice
            shown += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        while not shown.endswith(b"interrupted\r\n"):
            shown += os.read(ours, 65536)
    os.close(ours)
    assert process.returncode == 130
    assert b"\x1b[?7h\x1b[?25h" in shown  # the terminal is as it was
    assert re.search(rb"\x1b\[[0-9;]*m", shown) is None  # NO_COLOR
    assert left_behind(tmp_path) == []


def small(**more: object) -> Scenario:
    """Make a story of a moment."""
    nodes = yaml.safe_load(STORY.read_text())["nodes"]
    value = {"for": "1s", "clock": "real", "nodes": nodes, "steps": [], **more}
    return scenario(value, "small.yaml")


def test_a_promise_that_is_not_kept_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "PATIENCE_S", 0.0)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "alone"},
        "spec": {"containers": [{"name": "app", "image": "x"}]},
    }
    story = small(
        steps=[{"at": 0, "apply": pod}, {"at": 0, "delete": "deployment/gone"}],
        expect=[{"workload": "pod/alone", "running": 2}],
    )
    assert run.Demo(story, threading.Event(), colour=False).play() == [
        'delete deployment/gone was refused: deployments.apps "gone" not found',
        "pod/alone: running is 1, expected 2",
    ]
    assert "2 running: BROKEN" in capsys.readouterr().out


def test_a_process_of_ours_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.demo.companions._EVENCORE", "/bin/false")
    with pytest.raises(DemoError, match="ended with exit code 1"):
        run.Demo(small(), threading.Event(), colour=False).play()
