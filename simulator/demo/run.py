"""Plays the story in both clusters at once, and tells what came of it.

For: the order of things. Not for: what they are; see the package.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from evencore.domain.text import count
from evencore.tables import BOLD, DIM, Pen
from simulator.cluster import Cluster
from simulator.demo import view
from simulator.demo.companions import Interrupted, companions
from simulator.demo.screen import Screen, can_redraw
from simulator.demo.worlds import World
from simulator.scenario import checks, verdict
from simulator.scenario.ledger import Workload
from simulator.scenario.player import options_of
from simulator.scenario.report import moment

if TYPE_CHECKING:
    import threading

    from simulator.demo.companions import Companions
    from simulator.scenario.model import Step
    from simulator.scenario.reading import Scenario
    from simulator.server import Options

COMPONENT: Final = "evencore-controller"
"""Who reports the Events that an admin reads."""

PATIENCE_S: Final = 10.0
"""How much longer than the story the demo waits for what is promised, on a busy machine."""

_TURN_S: Final = 0.25
_TOTALS_S: Final = 6.0
"""Between two lines of totals where nothing is redrawn."""

_STEPS: Final = 4
"""Newest steps that are shown."""


class Demo:
    """Two clusters and one story."""

    def __init__(self, scenario: Scenario, stop: threading.Event, *, colour: bool) -> None:
        self._scenario, self._stop = scenario, stop
        self._asked = view.asked(scenario)
        self._pen = Pen(colour)
        self._done: list[str] = []

    def play(self) -> list[str]:
        """Play and tell; returns what is otherwise than promised.

        Raises DemoError, and Interrupted when `stop` is set.
        """
        file = self._scenario.file
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evencore-demo-")))
            plain, ours = (
                World(name, stack.enter_context(Cluster(file.machines(), self._options())))
                for name in (view.PLAIN, view.OURS)
            )
            click.echo(f"{self._title()}\nStarting evencore webhook (TLS) and controller ...")
            spaces = {one.workload.namespace for one in self._asked}
            working = stack.enter_context(companions(ours, spaces, folder, self._stop))
            seconds = self._follow(plain, ours, working)
            return self._report(seconds, plain, ours)

    def _options(self) -> Options:
        return options_of(self._scenario, secure=True)

    def _title(self) -> str:
        nodes = sum(one.count for one in self._scenario.file.machines().nodes)
        machine = self._scenario.file.machines().nodes[0].machine
        return (
            f"Two clusters of {count(nodes, 'node')}, each node {machine.sockets} sockets x "
            f"{machine.cores_per_socket} cores x {machine.threads_per_core} threads; "
            "the same happens in both.\nAll times are evencore's defaults, none is shortened."
        )

    def _follow(self, plain: World, ours: World, working: Companions) -> float:
        """Play the story to its end; returns how many seconds it took."""
        file, began, told_at = self._scenario.file, time.monotonic(), 0.0
        steps = checks.in_order(file)
        with Screen(redraws=can_redraw(view.WIDE, len(self._asked) + _STEPS + 6)) as screen:
            while True:
                seconds = time.monotonic() - began
                while steps and steps[0][1].at <= seconds:
                    self._do(*steps.pop(0), (plain, ours), screen)
                working.check()
                rows = plain.rows(), ours.rows()
                screen.draw(
                    [
                        self._pen.paint(f"{moment(seconds)} of {moment(file.lasts)}", BOLD),
                        *view.table(self._asked, *rows, self._pen),
                        "",
                        *(self._pen.paint(line, DIM) for line in self._done[-_STEPS:]),
                    ]
                )
                if seconds - told_at >= _TOTALS_S:
                    told_at = seconds
                    screen.tell(view.totals(seconds, *rows))
                unmet = list(verdict.disappointments(file.expect, ours.outcome(seconds)))
                if seconds >= file.lasts + (PATIENCE_S if unmet else 0):
                    screen.clear()
                    return seconds
                if self._stop.wait(_TURN_S):
                    raise Interrupted

    def _do(self, number: int, step: Step, worlds: tuple[World, ...], screen: Screen) -> None:
        said = [list(world.do(step, self._scenario.manifests.get(number, ()))) for world in worlds]
        for lines in zip(*said, strict=True):
            for line in dict.fromkeys(lines):  # once, if it is the same in both
                self._done.append(f"{moment(step.at):>7}  {line}")
                screen.tell(self._done[-1])

    def _report(self, seconds: float, plain: World, ours: World) -> list[str]:
        rows, pen, outcome = (plain.rows(), ours.rows()), self._pen, ours.outcome(seconds)
        alone = replace(outcome, surprises=[])
        broken = {
            Workload(one.workload.resource.kind, one.namespace, one.workload.name)
            for one in self._scenario.file.expect
            if one.workload is not None and any(verdict.disappointments([one], alone))
        }
        for line in (
            "",
            *view.table(self._asked, *rows, pen, broken),
            "",
            view.rates(seconds, *rows),
            "",
            pen.paint("What an admin reads in the plain cluster:", BOLD),
            *view.warnings(plain.outcome(seconds), pen),
            "",
            pen.paint("What an admin reads with evencore:", BOLD),
            *view.events(ours.events(COMPONENT), pen),
        ):
            click.echo(line)
        return list(verdict.disappointments(self._scenario.file.expect, outcome))
