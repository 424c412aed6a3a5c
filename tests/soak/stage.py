"""Threads of ours on a clock that stands still while they work: one at a time, in a known order.

For: running the product's own loops (watches, election, workers), which wait by a clock that is
handed in, so that the same seed gives the same run. An actor works until it waits; whoever may go
on by then is drawn by chance.
Not for: time itself; whoever plays a story moves it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

STUCK_S = 60.0
"""Real seconds: an actor that works for longer waits for something that is no clock of ours."""


class Killed(BaseException):
    """The process of an actor is gone, wherever it was."""


class Actor(threading.Thread):
    """A thread that works only when it is its turn."""

    def __init__(self, stage: Stage, name: str, work: Callable[[], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._stage, self._work = stage, work
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._killed = False
        # What it waits for: a moment, one that others may change, or something else.
        self.until: float | None = 0.0
        self.moving: Callable[[], float | None] | None = None
        self.ready: Callable[[], bool] | None = None
        self.frozen_until = 0.0
        self.failure: BaseException | None = None
        self.ended = False
        self.start()

    def run(self) -> None:
        """Wait for the first turn, then work."""
        self._go.acquire()
        try:
            if not self._killed:
                self._work()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001  told by the stage
            self.failure = error
        self.ended = True
        self._stage.forget(self)
        self._back.release()

    def turn(self) -> None:
        """Let it work until it waits or ends."""
        self._go.release()
        if not self._back.acquire(timeout=STUCK_S):
            raise RuntimeError(f"{self.name} waits for something that is no clock of ours")
        if self.failure is not None:
            raise self.failure

    def wait(
        self,
        until: float | None,
        ready: Callable[[], bool] | None = None,
        moving: Callable[[], float | None] | None = None,
    ) -> None:
        """Let others work until what it waits for is there; in its own thread only."""
        self.until, self.ready, self.moving = until, ready, moving
        self._back.release()
        self._go.acquire()
        if self._killed:
            raise Killed

    def kill(self) -> None:
        """End it where it waits."""
        self._killed = True
        self.turn()

    def due(self, now: float) -> bool:
        """Tell whether it may go on. This is asked most of all."""
        if self.frozen_until > now:
            return False
        until = self.until if self.moving is None else self.moving()
        if until is not None and until <= now:
            return True
        return self.ready is not None and self.ready()


class Stage:
    """All actors of a story."""

    def __init__(self, now: Callable[[], float], chance: random.Random) -> None:
        self.now, self._chance = now, chance
        self._actors: list[Actor] = []

    def actor(self, name: str, work: Callable[[], None]) -> Actor:
        """Have somebody work from the next turn on."""
        actor = Actor(self, name, work)
        self._actors.append(actor)
        return actor

    def forget(self, actor: Actor) -> None:
        """Take in that an actor has ended."""
        self._actors.remove(actor)

    def wait(self, seconds: float, ready: Callable[[], bool] | None = None) -> None:
        """Wait as the actor that is at work; whoever is none, and plays, has no time to pass."""
        actor = threading.current_thread()
        if isinstance(actor, Actor):
            actor.wait(self.now() + seconds, ready)

    def wait_until(self, until: Callable[[], float | None]) -> None:
        """Wait for a moment that others may change meanwhile."""
        actor = threading.current_thread()
        if isinstance(actor, Actor):
            actor.wait(None, moving=until)

    def play(self) -> bool:
        """Let everybody who is due have a turn; False: nobody was."""
        now = self.now()
        due = [one for one in self._actors if one.due(now)]
        self._chance.shuffle(due)
        for one in due:
            if one in self._actors:
                one.turn()
        return bool(due)

    def next_due(self) -> float | None:
        """Tell when somebody is due by the clock alone."""
        now, found = self.now(), list[float]()
        for one in self._actors:
            if one.frozen_until > now:
                found.append(one.frozen_until)
            elif one.moving is not None:
                if (moves := one.moving()) is not None:
                    found.append(moves)
            elif one.until is not None:
                found.append(one.until)
        return min(found, default=None)

    def end(self, actors: Iterable[Actor]) -> None:
        """Kill some."""
        for one in tuple(actors):
            if not one.ended:
                one.kill()


class StageClock:
    """The clock of one process (`evencore.kube.clock.Clock`)."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def now(self) -> float:
        """Seconds; never goes back."""
        return self._stage.now()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait `seconds`, or until `stop` is set; True says that it is set."""
        self._stage.wait(seconds, stop.is_set)
        return stop.is_set()
