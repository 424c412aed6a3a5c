"""What goes wrong in a story, and comes right again after a while.

Each fault says what it does and does it, or returns None if there is nothing to do it to.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from evencore.domain.policy import Policy
from simulator.faults import Fault
from soak.outage import SCHEDULER, WORKLOADS
from soak.processes import CONTROLLER, WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Callable

    from soak.processes import Process
    from soak.world import World

    Trouble = Callable[[World], str | None]

_POLICIES: Final = (
    {},
    {"roundFrom": "1"},
    {"holds": {"after": 2, "slowestRelease": "10m"}},
    {"exclusions": {"initial": "1m", "maximum": "10m"}},
    {"holds": {"longest": "5m"}, "rejections": {"keep": 5}},
)


def kill_controller(world: World) -> str | None:
    """Kill a controller; another starts after a while."""
    if not world.controllers:
        return None
    one = world.chance.choice(world.controllers)
    led = " that leads" if one.leads else ""
    one.kill()
    world.later(world.chance.choice([1, 5, 30, 120]), world.start_controller)
    return f"{one.name}{led} is killed"


def hand_over(world: World) -> str | None:
    """Stop who leads in good order; a new one starts at once."""
    one = world.leader()
    if one is None:
        return None
    one.stop()
    world.later(2, world.start_controller)
    return f"{one.name} is told to end"


def kill_webhook(world: World) -> str | None:
    """Kill a replica of the webhook, or all."""
    if not world.webhooks:
        return None
    number = world.chance.choice([1, 1, 1, len(world.webhooks)])
    for one in world.webhooks[:number]:
        one.kill()
        world.later(world.chance.choice([1, 5, 30]) / number, world.start_webhook)
    del world.webhooks[:number]
    return f"{number} webhooks are killed"


def freeze(world: World) -> str | None:
    """Stop a process as it is, for longer than a Lease lasts or shorter."""
    one = _one(world)
    if one is None:
        return None
    seconds = world.chance.choice([3, 9, 14, 20, 60])
    one.freeze(world.now() + seconds)
    return f"{one.name} stands still for {seconds} s"


def set_clock(world: World) -> str | None:
    """Set the clock of a machine of ours; after a while it is right again."""
    one = _one(world)
    if one is None:
        return None
    seconds = world.chance.choice([-3600, -90, -20, -2, 2, 20, 90, 3600])
    one.off = timedelta(seconds=seconds)
    world.later(world.chance.uniform(20, 400), lambda: _set_right(one))
    return f"the clock of {one.name} is {seconds:+} s off"


def no_webhook(world: World) -> str:
    """Let nobody reach the webhook, for a while."""
    world.door.absent = True
    world.later(world.chance.uniform(1, 15), lambda: _open(world))
    return "nobody can reach the webhook"


def slow_webhook(world: World) -> str:
    """Let the webhook's answers take long, some too long."""
    world.door.slow_s = world.chance.choice([1.0, 4.0, 10.0])
    world.later(world.chance.uniform(5, 60), lambda: _open(world))
    return f"the webhook takes up to {world.door.slow_s:g} s"


def fail(world: World) -> str:
    """Let requests of ours fail in some way."""
    fault: dict[str, Any] = world.chance.choice(
        [
            {"action": "error", "code": 500},
            {"action": "error", "code": 503, "retry_after_seconds": 7},
            {"action": "error", "code": 429},
            {"action": "error", "code": 504},
            {"action": "lose"},
            {"action": "drop"},
            {"action": "conflict", "verbs": ["patch", "delete"]},
        ]
    )
    return _switch(world, fault | {"probability": world.chance.choice([0.2, 0.5, 1.0])})


def watch_fault(world: World) -> str:
    """Tear watches off, or tell them that they are too old."""
    action = world.chance.choice(["disconnect", "expire"])
    path = world.chance.choice(["*", "*/pods", "*/nodes", "*/events"])
    return _switch(world, {"action": action, "path": path, "verbs": ["watch"]})


def api_down(world: World) -> str:
    """Let the API server restart: no answers, and all watches end."""
    seconds = world.chance.choice([2, 10, 40])
    for action in ("disconnect", "drop"):
        _on(world, {"action": action, "client": "evencore*", "for_seconds": seconds})
    return f"the API server is away for {seconds} s"


def weather(world: World) -> str | None:
    """Let the network of one process be bad in one way."""
    one = _one(world)
    if one is None:
        return None
    kind = world.chance.choice(["late", "doubled", "silent", "slow"])
    now = one.weather
    if kind == "late":
        now.lag_s = world.chance.choice([0.5, 2.0, 8.0])
    elif kind == "doubled":
        now.doubled = 0.5
    elif kind == "silent":
        now.silent = True
    else:
        now.request_s = world.chance.choice([0.5, 3.0, 20.0])
    world.later(world.chance.uniform(5, 60), lambda: clear_up(world, one))
    return f"for {one.name} the network is {kind}"


def clear_up(world: World, one: Process) -> None:
    """Let the network be good again; what was silent is found torn."""
    weather, silent = one.weather, one.weather.silent
    weather.request_s, weather.lag_s, weather.doubled, weather.silent = 0.005, 0.01, 0.0, False
    if silent:
        for pipe in world.wire.pipes:
            if pipe.weather is weather:
                pipe.tear()


def control_plane(world: World) -> str:
    """Let the scheduler, or whoever makes pods, stand still."""
    who = world.chance.choice([SCHEDULER, WORKLOADS])
    seconds = world.chance.choice([2, 15, 60])
    world.outage.of(who, seconds)
    return f"{who} stands still for {seconds} s"


def new_policy(world: World) -> str:
    """Change our policy file: all processes start anew with it."""
    written = world.chance.choice(_POLICIES)
    world.policy = Policy.from_mapping(written)
    for one in world.processes():
        one.kill()
    world.webhooks.clear()
    world.controllers.clear()
    for _ in range(2):
        world.start_webhook()
        world.start_controller()
    return f"the policy is {written}"


def _one(world: World) -> Process | None:
    found = world.processes()
    return world.chance.choice(found) if found else None


def _set_right(one: Process) -> None:
    one.off = timedelta(0)


def _open(world: World) -> None:
    world.door.absent, world.door.slow_s = False, 0.0


def _switch(world: World, fault: dict[str, Any]) -> str:
    client = world.chance.choice([CONTROLLER, f"{WEBHOOK}/", "evencore"])
    fault |= {"client": f"{client}*", "for_seconds": world.chance.uniform(1, 30)}
    _on(world, fault)
    said = {key: value for key, value in fault.items() if key != "for_seconds"}
    return f"the API server for {fault['for_seconds']:.0f} s: {said}"


def _on(world: World, fault: dict[str, Any]) -> None:
    server = world.cluster.server
    server.call(lambda: server.faults.on(Fault(**fault)))
    world.troubled_until = max(world.troubled_until, world.now() + fault["for_seconds"])


FAULTS: Final[dict[Trouble, int]] = {
    kill_controller: 4,
    hand_over: 3,
    kill_webhook: 2,
    freeze: 3,
    set_clock: 2,
    no_webhook: 1,
    slow_webhook: 1,
    fail: 5,
    watch_fault: 3,
    api_down: 2,
    weather: 4,
    control_plane: 2,
    new_policy: 1,
}
"""With how often they happen."""
