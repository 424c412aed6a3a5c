"""A story from its seed: people and faults by chance, rest now and then, and in the end nothing.

For: playing one. Not for: what happens (`acts`, `faults`, `machines`) and what must hold
(`witness`, `writes`, `calm`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.kube import removal
from evencore.kube.outcome import Done
from simulator.resources import NODES
from soak import calm
from soak.acts import ACTS
from soak.client import PocketClient
from soak.faults import FAULTS
from soak.machines import MACHINES
from soak.promises import Broken
from soak.rooms import squeeze
from soak.trial import try_in_vain
from soak.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    Deed = Callable[[World], str | None]

NOISE_S: Final = 900.0
"""So long at most between two rests."""
HARD: Final = 0.5
"""How often a rest begins with a workload that has tried in vain for long."""
PAUSE_S: Final = 12.0
"""Between two things that happen, at most."""


def play(seed: int, minutes: float, tell: Callable[[World], None] = lambda _: None) -> World:
    """Play a story of so many minutes of the cluster's time. Raises Broken."""
    with World(seed) as world:
        try:
            tell(world)
            _play(world, minutes * 60, tell)
            _uninstall(world)
        except Broken:
            raise
        except Exception as error:
            raise Broken(world.told(f"the story itself failed: {error!r}")) from error
        return world


def _play(world: World, seconds: float, tell: Callable[[World], None]) -> None:
    end = world.now() + seconds
    while world.now() < end:
        noisy_until = world.now() + world.chance.uniform(NOISE_S / 3, NOISE_S)
        squeeze(world)
        quiet = world.chance.random() < 0.3  # people alone: some things need time to go wrong
        while world.now() < min(noisy_until, end):
            _something(world, quiet=quiet)
            world.pass_time(world.chance.uniform(0.1, PAUSE_S))
            tell(world)
        if world.chance.random() < HARD:
            try_in_vain(world)
            tell(world)
        calm.rest(world)
        tell(world)


def _something(world: World, *, quiet: bool) -> None:
    deeds: dict[Deed, int] = {**ACTS} if quiet else {**ACTS, **FAULTS, **MACHINES}
    deed = world.chance.choices(list(deeds), list(deeds.values()))[0]
    said = deed(world)
    if said is not None:
        world.done[deed.__name__] += 1
        world.say(said)


def _uninstall(world: World) -> None:
    """Take evencore away as its own command does, and look for what it left."""
    for one in world.processes():
        one.kill()
    world.webhooks.clear()
    world.controllers.clear()
    client = PocketClient(world.wire, "uninstall")
    for step in removal.steps(client):
        outcome = removal.carry_out(client, step)
        wrong = None if isinstance(outcome, Done) else f"{step.says}: {outcome}"
        world.promises.holds(calm.LEFT, wrong)
    table = world.store.table(NODES)
    nodes = world.cluster.server.call(lambda: [one.object for one in table.records()])
    for kind, found in (("Pod", world.pods()), ("Node", nodes)):
        for one in found:
            wrong = calm.leftovers(one, kind)
            told = f"{kind} {one['metadata']['name']}: {wrong}" if wrong else None
            world.promises.holds(calm.LEFT, told)
    world.check()
