"""What all controllers share: queue, token bucket, back-off, background work, Events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from simulator.clock import Clock
from simulator.controllers.amounts import share
from simulator.controllers.background import Background
from simulator.controllers.backoff import BackOff
from simulator.controllers.bucket import TokenBucket
from simulator.controllers.hashes import template_hash
from simulator.controllers.queue import WorkQueue
from simulator.controllers.recorder import Correlator, Recent
from simulator.errors import bad_request

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from simulator.objects import Key

A, B, C = ("ns", "a"), ("ns", "b"), ("ns", "c")


def play(story: Callable[[Background], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        await story(Background(Clock.virtual(0.0)))

    asyncio.run(run())


def test_a_key_asked_for_often_is_looked_at_once_and_again_if_asked_meanwhile() -> None:
    async def story(background: Background) -> None:
        turns: list[Key] = []

        async def sync(key: Key) -> None:
            turns.append(key)
            if turns == [A]:
                queue.add(A)
                queue.add(A)
            await background.sleep(1)

        queue = WorkQueue(background, sync)
        for key in (A, B, A, A):
            queue.add(key)
        await background.advance(0.5)
        assert turns == [A, B], "never two turns of one key at a time"
        await background.advance(5)
        assert turns == [A, B, A]

    play(story)


def test_no_more_keys_at_once_than_workers() -> None:
    async def story(background: Background) -> None:
        started: list[tuple[float, Key]] = []

        async def sync(key: Key) -> None:
            started.append((background.clock.now(), key))
            await background.sleep(1)

        queue = WorkQueue(background, sync, workers=2)
        for key in (A, B, C):
            queue.add(key)
        await background.advance(5)
        assert started == [(0.0, A), (0.0, B), (1.0, C)]

    play(story)


def test_a_key_that_fails_waits_twice_as_long_each_time_until_it_succeeds() -> None:
    async def story(background: Background) -> None:
        times: list[float] = []

        async def sync(_: Key) -> None:
            times.append(background.clock.now())
            if len(times) in (1, 2, 3, 5):
                raise bad_request("no")

        queue = WorkQueue(background, sync)
        queue.add(A)
        await background.advance(1)
        assert [round(at, 3) for at in times] == [0, 0.005, 0.015, 0.035]
        queue.add(A)
        await background.advance(1)
        assert [round(at, 3) for at in times[4:]] == [1, 1.005], "a success starts it anew"

    play(story)


def test_a_later_moment_does_not_put_off_an_earlier_one() -> None:
    async def story(background: Background) -> None:
        times: list[float] = []

        async def sync(_: Key) -> None:
            times.append(background.clock.now())

        queue = WorkQueue(background, sync)
        for seconds in (5, 3, 7):
            queue.add_after(A, seconds)
        await background.advance(10)
        assert times == [3]

    play(story)


def test_thirty_tokens_at_once_then_twenty_a_second_in_order() -> None:
    async def story(background: Background) -> None:
        bucket = TokenBucket(background)
        served: list[tuple[int, float]] = []

        async def take(number: int) -> None:
            await bucket.take()
            served.append((number, round(background.clock.now(), 3)))

        for number in range(34):
            background.start(take(number))
        await background.advance(10)
        assert served[:30] == [(number, 0.0) for number in range(30)]
        assert served[30:] == [(30, 0.05), (31, 0.1), (32, 0.15), (33, 0.2)]

    play(story)


def test_time_does_not_go_on_while_somebody_works() -> None:
    async def story(background: Background) -> None:
        seen: list[float] = []

        async def slow() -> None:
            await background.sleep(1)
            for _ in range(5):
                await asyncio.sleep(0)  # as a webhook: real time, no time of the cluster
            seen.append(background.clock.now())

        async def all_together() -> None:
            errors = await background.together([slow(), slow(), fails()])
            seen.append(len(errors))

        async def fails() -> None:
            raise bad_request("no")

        background.start(all_together())
        background.clock.after(1.5, lambda: seen.append(-1))
        await background.advance(2)
        assert seen == [1.0, 1.0, 1, -1]
        assert background.clock.now() == 2.0

    play(story)


def test_work_that_is_ended_in_its_sleep_leaves_no_trace() -> None:
    async def story(background: Background) -> None:
        background.start(background.sleep(100))
        await background.idle()
        (sleeper,) = asyncio.all_tasks() - {asyncio.current_task()}
        sleeper.cancel()
        await asyncio.wait([sleeper])
        await background.advance(1)
        assert background.clock.next_due() is None

    play(story)


def test_back_off_doubles_up_to_its_limit_and_is_forgotten_after_twice_that() -> None:
    back_off = BackOff(1, 4)
    assert back_off.left("x", 0) == 0
    waits = []
    now = 0.0
    for _ in range(4):
        back_off.failed("x", now)
        waits.append(back_off.left("x", now))
        now += waits[-1]
        assert back_off.left("x", now) == 0
    assert waits == [1, 2, 4, 4]
    back_off.failed("x", now + 100)
    assert back_off.left("x", now + 100) == 1
    assert back_off.left("y", now) == 0


def test_events_are_combined_from_the_tenth_message_on_and_dropped_after_25() -> None:
    correlator = Correlator()
    told = [correlator.combine(("uid", "Normal", "r"), f"m{n}", 0.0)[1] for n in range(12)]
    assert told == [f"m{n}" for n in range(9)] + [
        f"(combined from similar events): m{n}" for n in (9, 10, 11)
    ]
    assert correlator.combine(("uid", "Normal", "r"), "later", 601.0)[1] == "later"
    assert [correlator.admits("uid", 0.0) for _ in range(27)] == [True] * 25 + [False] * 2
    assert correlator.admits("other", 0.0)
    assert correlator.admits("uid", 300.0)
    assert not correlator.admits("uid", 301.0)


def test_what_was_written_longest_ago_is_forgotten_first() -> None:
    recent: Recent[str, int] = Recent(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        recent.put(key, value)
    assert [recent.get(key) for key in "abc"] == [3, None, 4]
    recent.drop("a")
    assert recent.get("a") is None


def test_percentages_are_rounded_as_asked() -> None:
    assert [share("25%", 10), share("25%", 10, up=False), share(3, 10), share(None, 10)] == [
        3,
        2,
        3,
        0,
    ]


def test_a_hash_is_the_templates_own() -> None:
    one = template_hash({"a": 1, "b": {"c": 2, "d": 3}})
    assert template_hash({"b": {"d": 3, "c": 2}, "a": 1}) == one
    assert template_hash({"a": 2, "b": {"c": 2, "d": 3}}) != one
    assert template_hash({"a": 1, "b": {"c": 2, "d": 3}}, 1) != one
    assert not set(one) - set("bcdfghjklmnpqrstvwxz2456789")
