"""Our processes, as they are put together for real, on a stage: each can die at any moment.

For: one controller, one replica of the webhook; how able each is just now.
Not for: when they die and come back; that is the story's. What `controller.runner` does in threads
is done here by actors, in the same order.
"""

from __future__ import annotations

import threading
import traceback
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from controller import wiring
from evencore.kube.snapshots import LiveSnapshot
from evencore.kube.surroundings import Surroundings
from evencore.settings import ControllerSettings
from soak.client import PocketClient
from soak.stage import Actor, StageClock
from soak.wire import Weather
from webhook.mutate import Mutator, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.queue import Queue
    from evencore.domain.policy import Policy
    from soak.promises import Promises
    from soak.wire import Wire

CONTROLLER: str = "evencore-controller"
WEBHOOK: str = "evencore"
KINDS_OF_A_WEBHOOK = 8
KINDS_OF_A_CONTROLLER = 10


class Process:
    """What both have in common: actors, a client, a clock that may be wrong."""

    kinds: int
    view: LiveSnapshot

    def __init__(self, wire: Wire, agent: str, name: str, look: Callable[..., None]) -> None:
        self.name, self._stage = name, wire.stage
        self.weather = Weather()
        self.client = PocketClient(wire, agent, self.weather, partial(look, self))
        self.off = timedelta(0)
        self.alive = True
        self.frozen_until = 0.0
        self._actors: list[Actor] = []
        self._chance = wire.chance
        self._around = Surroundings(
            self._now, StageClock(wire.stage), wire.chance.random, self._spawn
        )

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._stage.now(), UTC) + self.off

    def _spawn(self, name: str, work: Callable[[], None]) -> threading.Thread:
        if name == "snapshot":  # `tend` does its work
            return threading.Thread(target=work, name=name)
        actor = self._stage.actor(f"{self.name} {name}", work)
        self._actors.append(actor)
        return actor

    def freeze(self, until: float) -> None:
        """Stop all that it does until then, as SIGSTOP would."""
        self.frozen_until = until
        for actor in self._actors:
            actor.frozen_until = until

    def kill(self) -> None:
        """End it, with all that was in memory."""
        self.alive = False
        self._stage.end(self._actors)
        self.view.stop()  # threads that wait for a stop alone would outlive it

    @property
    def hears(self) -> bool:
        """Tell whether it hears of everything at once."""
        return (
            self.alive
            and self.frozen_until <= self._stage.now()
            and self.weather.fine
            and self.weather.open == self.kinds
        )


class Webhook(Process):
    """One replica."""

    kinds = KINDS_OF_A_WEBHOOK

    def __init__(
        self, wire: Wire, name: str, policy: Policy, promises: Promises, look: Callable[..., None]
    ) -> None:
        super().__init__(wire, WEBHOOK, name, look)
        self._promises = promises
        self.view = LiveSnapshot(self.client, policy, surroundings=self._around)
        self.answer = Mutator(policy, self.view, self._now, self._observe)
        self.view.start()

    @property
    def ready(self) -> bool:
        """Tell whether the API server would find it behind its Service."""
        return self.alive and self.view.missing() is None

    def tend(self) -> None:
        """Do what a thread of its own does."""
        if self.alive and self.frozen_until <= self._stage.now():
            self.view.refresh()

    def _observe(self, outcome: Outcome, _: float) -> None:
        said = f"{outcome.error!r} {outcome.detail}"
        wrong = outcome.result in {"failed", "refused", "unreadable"}
        self._promises.no_mistake(f"the webhook: {outcome.result}: {said}" if wrong else None)


class Controller(Process):
    """One controller: it watches, contends, and works while it leads."""

    kinds = KINDS_OF_A_CONTROLLER

    def __init__(
        self, wire: Wire, name: str, policy: Policy, promises: Promises, look: Callable[..., None]
    ) -> None:
        super().__init__(wire, CONTROLLER, name, look)
        self._promises = promises
        self._stop, self._end = threading.Event(), threading.Event()
        settings = ControllerSettings(identity=name, certs="external", workers=2)
        self._parts = wiring.parts(
            self.client, settings, policy, self._stop, self._on_lost, self._around
        )
        self.view = self._parts.view
        self.view.start()
        self._election: Actor | None = None
        self._workers: list[Actor] = []
        self._works = False
        self.lost = False
        """It ends because it does not lead any more: whoever runs containers starts it again."""

    @property
    def leads(self) -> bool:
        """Tell whether it believes so."""
        return self.alive and self._works and self._parts.elector.leads()

    @property
    def ends(self) -> bool:
        """Tell whether it was told to end."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Tell it to end, as SIGTERM does."""
        self._stop.set()

    def tend(self) -> None:
        """Go on to the next step of starting or stopping, as `controller.runner` does."""
        if not self.alive or self.frozen_until > self._stage.now():
            return
        parts = self._parts
        self.view.refresh()
        if self._stop.is_set():
            self._wind_up()
        elif self._election is None and parts.view.missing() is None:
            self._election = self._start("lease", lambda: parts.elector.run(self._end))
        elif not self._works and parts.elector.elected.is_set():
            self._works = True
            parts.lead()
            self._workers = [
                self._start(f"worker {lane}.{number}", partial(self._work, one.queue))
                for lane, one in enumerate(parts.lanes)
                for number in range(one.workers)
            ]

    def _wind_up(self) -> None:
        for lane in self._parts.lanes:
            lane.queue.stop()
        if any(not one.ended for one in self._workers):
            return
        self._end.set()
        if self._election is None or self._election.ended:
            self.kill()

    def _start(self, name: str, work: Callable[[], None]) -> Actor:
        actor = self._stage.actor(f"{self.name} {name}", work)
        self._actors.append(actor)
        return actor

    def _work(self, queue: Queue) -> None:
        """Do as `controller.runner` does; a mistake of ours is told besides."""

        def due() -> float | None:
            after_s = queue.due_s()
            if self._stop.is_set():
                return self._stage.now()
            return None if after_s is None else self._stage.now() + max(after_s, 0.0)

        while True:
            self._stage.wait_until(due)
            if self._stop.is_set():
                return
            after_s = queue.due_s()
            if after_s is None or after_s > 0:
                continue
            key = queue.get()
            assert key is not None
            try:
                again = self._parts.reconcilers[key.work](key.about)
            except Exception:  # noqa: BLE001  as there
                self._promises.no_mistake(f"{key}: {traceback.format_exc()}")
                queue.failed(key)
                continue
            self._promises.no_mistake(None)
            queue.done(key)
            if again is not None:
                # No request takes no time: without this a moment might never end.
                queue.add(key, max(again, 0.001))

    def _on_lost(self, _: str) -> None:
        self.lost = True
        self._stop.set()
