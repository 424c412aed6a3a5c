"""The cluster of a story, people, our processes, and the time that passes for all of them.

For: what acts, faults and checks have in common. Everything hangs on the seed.
Not for: what happens (`acts`, `faults`) or what must hold (`witness`, `calm`).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Self

from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.nodefiles.files import NodesFile
from simulator.clock import Clock
from simulator.cluster import Cluster
from simulator.kubelet.presets import PRESETS
from simulator.resources import PODS
from simulator.server import Options
from soak.client import PocketClient
from soak.door import Door
from soak.outage import Outage
from soak.pods import app_of
from soak.processes import Controller, Webhook
from soak.promises import Broken, Promises
from soak.stage import Stage
from soak.wire import Wire
from soak.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from soak.processes import Process

Object = dict[str, Any]

LOOK_S: Final = 1.0
RESTART_S: Final = 2.0
"""Until a process that ended by itself is there again."""
MOST_TURNS: Final = 20_000
"""So many turns in one moment are an endless loop of ours."""
LINES: Final = 25
"""Of the story, told when a promise was broken."""
PODS_PATH: Final = "/api/v1/namespaces/soak/pods"


class World:
    """Enter it as a context: it is there as long as the cluster runs."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(f"{seed}/story")  # noqa: S311  to be repeated
        self.clock = Clock.virtual()
        self.promises = Promises()
        self.policy = Policy()
        self.done: Counter[str] = Counter()
        self.log: list[str] = []
        self.paths: dict[str, str] = {}  # of workloads, by name
        self.out = False  # the namespace takes no part
        self.wish = False  # or wants less of us than we could do
        self.troubled_until = 0.0  # by faults of the API server
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._numbers: Counter[str] = Counter()
        self.door = Door(self.promises, self._stream("door"))
        self.outage = Outage(self.clock.now)
        (machine,) = PRESETS["autokh"].nodes
        nodes = NodesFile(nodes=[machine.model_copy(update={"count": self.chance.choice([2, 3])})])
        options = Options(
            clock=self.clock,
            seed=seed,
            secure=False,
            mutating=(self.door,),
            validating=(self.outage,),
            history=self.chance.choice([200, 2_000, 20_000]),
        )
        self.cluster = Cluster(nodes, options)
        self.store = self.cluster.server.store
        self.stage = Stage(self.clock.now, self._stream("stage"))
        self.wire = Wire(self.cluster, self.stage, self._stream("wire"))
        self.people = PocketClient(self.wire, "people")
        self.witness = Witness(self)
        self.webhooks: list[Webhook] = self.door.replicas
        self.controllers: list[Controller] = []
        self._look_at = 0.0

    def __enter__(self) -> Self:
        self.cluster.__enter__()
        self.door.store = self.store
        self.door.sleep = self.cluster._background.sleep  # noqa: SLF001  as all who live there
        self.cluster.advance(300)  # kubelets have started long ago
        self.cluster.server.call(self.witness.watch)
        self.send("POST", "/api/v1/namespaces", {"metadata": {"name": "evencore-system"}})
        self.send("POST", "/api/v1/namespaces", {"metadata": {"name": "tenant"}})
        labels = {names.ADMISSION: names.ENABLED}
        space = {"metadata": {"name": "soak", "labels": labels}}
        self.send("POST", "/api/v1/namespaces", space)
        for _ in range(2):
            self.start_webhook()
            self.start_controller()
        self.pass_time(30)
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.processes():
            one.kill()
        self.cluster.__exit__()

    def _stream(self, name: str) -> random.Random:
        return random.Random(f"{self.seed}/{name}")  # noqa: S311  to be repeated

    # Time.

    def now(self) -> float:
        """Seconds, in the cluster's time."""
        return self.clock.now()

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Have something done in a while."""
        self._later.append((self.now() + seconds, what))

    def forget_later(self) -> list[Callable[[], None]]:
        """Return what was to be done later, to be done now or never."""
        found, self._later = [what for _, what in self._later], []
        return found

    def pass_time(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, for all; no longer than `until` holds."""
        end = self.now() + seconds
        while True:
            self._moment()
            if self.now() >= end or until():
                break
            due = [end, self._look_at, *(at for at, _ in self._later)]
            if (next_due := self.stage.next_due()) is not None:
                due.append(next_due)
            self.cluster.server.wait_for(self._until(max(min(due), self.now())))

    def _moment(self) -> None:
        """Let all do what they can at this moment."""
        for one in [one for one in self._later if one[0] <= self.now()]:
            self._later.remove(one)
            one[1]()
        turns = 0
        self._tend()
        while self.stage.play():
            self._tend()
            turns += 1
            if turns > MOST_TURNS:
                raise Broken(self.told("something of ours never comes to rest"))
        self.witness.follow()
        if self.now() >= self._look_at:
            self._look_at = self.now() + LOOK_S
            self.witness.look()
        self.check()

    def check(self) -> None:
        """Raise Broken if a promise was broken."""
        if self.promises.broken:
            raise Broken(self.told(self.promises.broken[0]))

    def _tend(self) -> None:
        for one in self.processes():
            one.tend()
        for one in self.controllers:
            if one.lost and not one.alive:
                self.later(RESTART_S, self.start_controller)
        self.controllers = [one for one in self.controllers if one.alive]

    async def _until(self, end: float) -> None:
        """Move the cluster's time, but not past the next line that one of us would read."""
        background, clock = self.cluster._background, self.clock  # noqa: SLF001  see above
        await background.idle()
        while True:
            soonest = self.wire.soonest()
            if soonest is not None:
                end = max(clock.now(), min(end, soonest))
            due = clock.next_due()
            if due is None or due > end:
                break
            clock.jump()
            await background.idle()
        clock.advance(end - clock.now())

    # Our processes.

    def processes(self) -> list[Process]:
        """Return all that are alive."""
        return [*self.webhooks, *self.controllers]

    def start_webhook(self) -> None:
        """Start one more replica."""
        name = self.name("webhook")
        look = self.witness.write
        self.webhooks.append(Webhook(self.wire, name, self.policy, self.promises, look))

    def start_controller(self) -> None:
        """Start one more controller."""
        name = self.name("controller")
        look = self.witness.write
        self.controllers.append(Controller(self.wire, name, self.policy, self.promises, look))

    def leader(self) -> Controller | None:
        """Return who leads and can work."""
        return next((one for one in self.controllers if one.leads), None)

    # Objects.

    def name(self, kind: str) -> str:
        """Make a name that nobody had."""
        self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"

    def send(self, verb: str, path: str, body: object) -> None:
        """Write as people do."""
        self.people.write(verb, path, body)

    def patch(self, path: str, body: object) -> None:
        """Change as people do."""
        self.people.write("PATCH", path, body, content_type="application/merge-patch+json")

    def read(self, path: str) -> Object:
        """Read one object, or a list."""
        found: Object = json.loads(self.people.get(path).read())
        return found

    def pods(self, app: str = "") -> list[Object]:
        """Return the pods of a workload, or all."""
        table = self.store.table(PODS)
        found = self.cluster.server.call(lambda: [one.object for one in table.records("soak")])
        return [one for one in found if app in ("", app_of(one))]

    def nodes(self) -> list[str]:
        """Return the names of the nodes."""
        return [one["metadata"]["name"] for one in self.read("/api/v1/nodes")["items"]]

    # Telling.

    def say(self, text: str) -> None:
        """Note what happens."""
        self.log.append(f"{self.now() - 1.8e9:8.1f} {text}")

    def told(self, wrong: str) -> str:
        """Say what is wrong, and what led to it."""
        self.say(wrong)
        return "\n".join([f"seed {self.seed}: {wrong}", *self.log[-LINES:]])
