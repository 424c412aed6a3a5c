"""Somebody tries in vain until each try is followed by minutes of waiting; then comes the rest.

For: the long waits, exclusions and holds that a story seldom has by chance. Not for: looking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from soak import calm
from soak.acts import make_stubborn
from soak.faults import FAULTS, new_policy
from soak.rooms import squeeze

if TYPE_CHECKING:
    from soak.world import World

LOST_S: Final = 70.0
"""Until a node that was lost counts as there again, and all is gone that was deleted."""
LONG_S: Final = (150.0, 1500.0)
LOOPS: Final = 0.5
"""How often it loops first, unheld: hundreds of rejected pods are left to be cleaned up."""
LOOP_S: Final = (10.0, 30.0)


def try_in_vain(world: World) -> None:
    """Empty the cluster, squeeze its nodes, and let one workload try; we may die meanwhile."""
    calm.end_faults(world)
    calm.keep(world, None)
    world.pass_time(LOST_S)
    world.say(squeeze(world))
    world.pass_time(2)
    unasked = world.chance.random() < LOOPS
    world.door.absent = unasked
    world.say(make_stubborn(world, leaving=unasked))
    if unasked:
        world.say("nobody can reach the webhook, so it loops")
        world.pass_time(world.chance.uniform(*LOOP_S))
        world.door.absent = False
    left_s = world.chance.uniform(*LONG_S)
    world.pass_time(left_s)
    for _ in range(world.chance.choice([0, 0, 1, 3])):
        fault = world.chance.choice([one for one in FAULTS if one is not new_policy])
        said = fault(world)
        if said is not None:
            world.done[fault.__name__] += 1
            world.say(said)
        world.pass_time(world.chance.uniform(1, 20))
