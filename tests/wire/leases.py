"""A server that keeps one Lease as an API server would, and can be told to misbehave.

For: following an elector turn by turn on a clock of the test's own.
Not for: knowing the API beyond that; the pocket cluster does.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wire.scripted import CUT, Answer, Stream, refusal
from wire.support import FakeClock, client_of

from evencore.kube.lease import Elector, LeaseName

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.scripted import ScriptedServer, Seen, Step

LEASE = LeaseName("evencore-system", "evencore-controller")


class LeaseServer:
    """The brain of a ScriptedServer. `bad`: what comes instead, for as long as it lasts."""

    def __init__(self, *bad: Step) -> None:
        self.bad = deque(bad)
        self.loses_answers = 0
        self.metadata: dict[str, Any] = {}
        self.spec: dict[str, Any] | None = None
        self._version = 0

    def set(self, **spec: object) -> None:
        """Write it as somebody else."""
        self._version += 1
        self.metadata = {"resourceVersion": str(self._version)}
        self.spec = {**(self.spec or {}), **spec}

    def __call__(self, seen: Seen) -> Step:
        if self.bad:
            return self.bad.popleft()
        if seen.verb == "GET":
            return refusal(404) if self.spec is None else self._told()
        body = json.loads(seen.body)
        if seen.verb == "POST":
            if self.spec is not None:
                return refusal(409)
        elif body["metadata"]["resourceVersion"] != self.metadata["resourceVersion"]:
            return refusal(409)
        self.set(**body["spec"])
        if self.loses_answers:
            self.loses_answers -= 1
            return Stream((), CUT)
        return self._told()

    def _told(self) -> Answer:
        return Answer(body=json.dumps({"metadata": self.metadata, "spec": self.spec}).encode())


class Turns(FakeClock):
    """A clock whose every wait is a turn: the test does something in each; after the last, stop."""

    def __init__(self, *turns: Callable[[], object]) -> None:
        super().__init__()
        self._turns = deque(turns)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        super().wait(stop, seconds)
        if self._turns:
            self._turns.popleft()()
        else:
            stop.set()
        return stop.is_set()


class Contest:
    """An elector that runs in the test's own thread, and what it said."""

    def __init__(
        self,
        server: ScriptedServer,
        clock: FakeClock,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        server.now = clock.now
        self.client = client_of(server)
        self.lost: list[tuple[float, str]] = []
        self.elector = Elector(
            self.client,
            LEASE,
            "me",
            lambda why: self.lost.append((clock.now(), why)),
            clock=clock,
            wall=wall,
            random=lambda: 0.0,
        )

    def run(self) -> None:
        """Run until its turns are over, or the lease is lost."""
        self.elector.run(threading.Event())
        self.client.close()
