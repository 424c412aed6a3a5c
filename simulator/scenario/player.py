"""Plays a scenario: lets time pass, does each step at its moment, and tells what happened.

For: the order of things. It works in the caller's thread and enters the cluster's for each step
and each look. Not for: what steps do (`deeds`), who counts (`ledger`, `warned`), words (`report`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from simulator.clock import Clock
from simulator.errors import ApiError
from simulator.scenario import checks
from simulator.scenario.deeds import call, deeds
from simulator.scenario.ledger import Counts, Ledger, Workload
from simulator.scenario.warned import Source, Warned, Warnings
from simulator.server import Options

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from simulator.cluster import Cluster
    from simulator.scenario.deeds import Deed
    from simulator.scenario.model import ScenarioFile, Step
    from simulator.scenario.reading import Scenario


_SLICE_S: Final = 10.0
"""At most so much virtual time passes before there is a look at what is new."""


class Entry(NamedTuple):
    """One thing that a person may want to know, and when it was."""

    at: float  # seconds after the beginning
    kind: Literal["step", "refused", "told", "warning", "pods"]
    """told: what admission says to who does a step. warning: a new kind of Warning Event."""
    text: str
    workload: Workload | None = None  # of pods
    counts: Counts | None = None  # of pods: since the last entry; running and pending: now


@dataclass(slots=True)
class Outcome:
    """What had become of everything when it ended."""

    seconds: float
    workloads: dict[Workload, Counts]
    nodes: dict[str, Counter[str]]
    warnings: dict[Source, Warned]
    surprises: list[str] = field(default_factory=list)
    """Steps that were refused and should not have been, and the other way round."""
    interrupted: bool = False


def options_of(scenario: Scenario, *, secure: bool) -> Options:
    """Tell how the API server of a scenario is to be."""
    file = scenario.file
    clock = Clock.virtual() if file.clock is None else Clock.real(file.clock)
    return Options(clock=clock, seed=file.seed, secure=secure, services=file.services)


class Player:
    """Plays one scenario in a running cluster; `tell` hears of everything in its order.

    `reached` hears how many seconds have passed, whenever it is looked.
    """

    def __init__(
        self,
        scenario: Scenario,
        cluster: Cluster,
        tell: Callable[[Entry], None],
        reached: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._scenario, self._cluster = scenario, cluster
        self._tell, self._reached = tell, reached
        self._server = cluster.server
        self._clock = cluster.server.store.clock
        self._heard: list[Entry] = []
        self._news = asyncio.Event()
        self._surprises: list[str] = []
        cluster.settle()
        self._began = self._clock.now()
        self._ledger, self._warnings = self._server.call(self._follow)

    def play(self) -> Outcome:
        """Play it to its end, or until Ctrl-C."""
        file = self._scenario.file
        steps, looks, last = checks.in_order(file), _looks(file), file.lasts
        interrupted = False
        try:
            for moment in sorted(looks | {step.at for step in file.steps}):
                self._pass_until(moment)
                if moment in looks:
                    self._tell_of_pods(moment)
                while steps and steps[0][1].at <= moment:
                    number, step = steps.pop(0)
                    self._do(step, deeds(step, self._scenario.manifests.get(number, ())))
        except KeyboardInterrupt:
            interrupted = True
            last = self._clock.now() - self._began
        self._tell_heard()
        return Outcome(
            last,
            self._ledger.workloads,
            self._ledger.nodes,
            self._warnings.by_source,
            self._surprises,
            interrupted,
        )

    def _follow(self) -> tuple[Ledger, Warnings]:
        store = self._server.store
        return Ledger(store), Warnings(store, self._hear)

    def _hear(self, source: Source, message: str) -> None:
        """Note a new warning, in the cluster's thread, and wake who waits to tell of it."""
        text = f"{source.reason}, {source.component}: {message}"
        self._heard.append(Entry(self._clock.now() - self._began, "warning", text))
        self._news.set()

    def _pass_until(self, moment: float) -> None:
        due = self._began + moment
        arrived = False
        while not arrived:
            arrived = self._pass_some(due)
            self._tell_heard()
            self._reached(self._clock.now() - self._began)

    def _pass_some(self, due: float) -> bool:
        """Let time pass until a moment or until there may be news; tells whether it has come."""
        if self._clock.speed is not None:
            return self._server.wait_for(self._until(due))
        left = due - self._clock.now()
        self._cluster.advance(min(left, _SLICE_S))
        return left <= _SLICE_S

    async def _until(self, due: float) -> bool:
        """Wait for a moment or for news; tells whether the moment has come."""
        timer = self._clock.after(due - self._clock.now(), self._news.set)
        try:
            await self._news.wait()
        finally:
            timer.cancel()
        self._news.clear()
        return self._clock.now() >= due

    def _tell_heard(self) -> None:
        def taken() -> list[Entry]:
            heard, self._heard = self._heard, []
            return heard

        for entry in self._server.call(taken):
            self._tell(entry)

    def _tell_of_pods(self, moment: float) -> None:
        for workload, counts in self._server.call(lambda: list(self._ledger.news())):
            self._tell(Entry(moment, "pods", str(workload), workload, counts))

    def _do(self, step: Step, found: Iterator[Deed]) -> None:
        for deed in found:
            said = call(step.verb)
            try:
                became = self._server.wait_for(deed.act(self._cluster, said))
            except ApiError as error:
                self._done(step, deed, "refused", f": {error.message}")
            else:
                self._done(step, deed, "step", f": {became}" if became else "")
            for warning in said.warnings:
                self._tell(Entry(step.at, "told", warning))
            if self._clock.speed is None:
                # How soon the next thing is done in real time makes no difference then.
                self._cluster.settle()
            self._tell_heard()

    def _done(self, step: Step, deed: Deed, kind: Literal["step", "refused"], became: str) -> None:
        self._tell(Entry(step.at, kind, deed.text + became))
        if (kind == "refused") is not step.refused:
            was = "was refused" if kind == "refused" else "was to be refused, and was not"
            self._surprises.append(f"{deed.text} {was}{became if kind == 'refused' else ''}")


def _looks(file: ScenarioFile) -> set[float]:
    """Give the moments at which pods are told of: regularly, and at the end."""
    return {file.every * number for number in range(1, int(file.lasts / file.every) + 1)} | {
        file.lasts
    }
