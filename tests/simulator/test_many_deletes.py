"""Thousands of deletes at one moment: others have their turn in between, and all are done."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest
from simulator_support import Wire, config_map, owned

from simulator.clock import Clock
from simulator.namespaces import new
from simulator.piecemeal import AT_ONCE, piecemeal
from simulator.resources import CONFIG_MAPS, NAMESPACES
from simulator.server import ApiServer, Options
from simulator.store import deletion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MANY = 40 * AT_ONCE
OWNER = ("shop", "owner")


def hurried() -> Clock:
    """Make a clock that passes a real millisecond each time somebody looks at it."""
    ticks = itertools.count()
    return Clock(start=1_800_000_000, speed=1.0, monotonic=lambda: next(ticks) / 1000)


@pytest.fixture
def full() -> Iterator[ApiServer]:
    """Start a server with a namespace in which one object owns MANY others."""
    with ApiServer(Options(clock=hurried(), secure=False)) as server:
        store = server.store

        def fill() -> None:
            store.create(NAMESPACES, "", new("shop"))
            owner = store.create(CONFIG_MAPS, "shop", config_map("owner")).object
            for number in range(MANY):
                store.create(
                    CONFIG_MAPS, "shop", owned(config_map(f"c{number}"), owner, block=True)
                )

        server.call(fill)
        yield server


def delete(server: ApiServer, propagation: str) -> None:
    options = deletion.Options(propagation=propagation)
    server.store.delete(CONFIG_MAPS, *OWNER, options)


DELETES: dict[str, Callable[[ApiServer], object]] = {
    "a namespace": lambda server: server.store.delete(NAMESPACES, "", "shop"),
    "an owner": lambda server: delete(server, "Background"),
    "an owner that waits for them": lambda server: delete(server, "Foreground"),
}


@pytest.mark.parametrize("start", DELETES.values(), ids=DELETES)
def test_others_are_answered_while_much_is_deleted(
    full: ApiServer, start: Callable[[ApiServer], object]
) -> None:
    seen: set[int] = set()

    async def look() -> None:
        """Do what a request does: wait for a turn of the loop, look, and wait again."""
        start(full)
        while not seen or min(seen):
            await asyncio.sleep(0)
            left = full.store.table(CONFIG_MAPS).records("shop")
            seen.add(sum(record.key[1].startswith("c") for record in left))

    full.wait_for(asyncio.wait_for(look(), 30))
    assert len(seen) > 10, "they went little by little"
    full.call(lambda: None)  # what was due at the end is done
    assert full.store.table(CONFIG_MAPS).get(OWNER) is None


def test_a_collection_is_deleted_little_by_little(full: ApiServer) -> None:
    seen: set[int] = set()
    full.store.table(CONFIG_MAPS).listen(lambda _: seen.add(answered))
    answered = 0

    async def count() -> None:
        nonlocal answered
        while True:
            await asyncio.sleep(0)
            answered += 1

    async def begin() -> asyncio.Task[None]:
        return asyncio.ensure_future(count())

    task = full.wait_for(begin())
    with Wire(full) as api:
        assert api.ask("DELETE", "/api/v1/namespaces/shop/configmaps")[0] == 200
    full.call(task.cancel)
    assert len(seen) > 10


@pytest.mark.parametrize("number", [0, 1, AT_ONCE, 3 * AT_ONCE + 1])
def test_each_once_and_in_order_at_one_moment_of_the_clock(number: int) -> None:
    clock = Clock.virtual(1000)
    seen: list[int | str] = []
    piecemeal(clock, range(number), seen.append, lambda: seen.append("end"))
    while clock.jump():
        pass
    assert (seen, clock.now()) == ([*range(number), "end"], 1000)
