"""Time that is real, faster or virtual, and the timers on it."""

from __future__ import annotations

import asyncio

import pytest

from simulator.chance import Chance
from simulator.clock import Clock, micro_timestamp, parse_timestamp, timestamp
from simulator.ticking import tick


def test_a_virtual_clock_jumps_from_one_due_moment_to_the_next_in_order() -> None:
    clock = Clock.virtual(1000)
    seen: list[tuple[str, float]] = []
    for name, seconds in (("late", 900.0), ("soon", 5.0), ("also soon", 5.0)):
        clock.after(seconds, lambda name=name: seen.append((name, clock.now())))  # type: ignore[misc]
    assert clock.jump()
    assert seen == [("soon", 1005), ("also soon", 1005)]
    assert clock.jump()
    assert seen[2:] == [("late", 1900)]
    assert not clock.jump()


def test_what_is_due_sees_its_own_moment_and_can_make_more_due_on_the_way() -> None:
    clock = Clock.virtual(0)
    seen: list[float] = []

    def again() -> None:
        seen.append(clock.now())
        clock.after(10, again)

    clock.after(10, again)
    clock.advance(35)
    assert seen == [10, 20, 30]
    assert clock.now() == 35


def test_a_cancelled_timer_is_never_done_and_nobody_waits_for_it() -> None:
    clock = Clock.virtual(0)
    seen: list[str] = []
    clock.after(1, lambda: seen.append("cancelled")).cancel()
    assert clock.next_due() is None
    clock.after(2, lambda: seen.append("kept"))
    clock.advance(5)
    assert seen == ["kept"]


def test_a_faster_clock_needs_less_real_time() -> None:
    real = [50.0]
    clock = Clock(start=1000, speed=60, monotonic=lambda: real[0])
    clock.after(120, lambda: None)
    assert clock.real_wait() == 2.0
    real[0] += 1
    assert (clock.now(), clock.real_wait(), clock.run_due()) == (1060, 1.0, 0)
    real[0] += 1
    assert (clock.real_wait(), clock.run_due()) == (0.0, 1)


def test_only_a_virtual_clock_can_be_moved() -> None:
    with pytest.raises(RuntimeError, match="runs by itself"):
        Clock.real().jump()
    with pytest.raises(ValueError, match="speed above 0"):
        Clock.real(0)


def test_a_loop_does_what_is_due_also_when_it_becomes_due_sooner_and_after_a_failure() -> None:
    async def run() -> list[str]:
        clock, seen, done = Clock.real(1000), [], asyncio.Event()
        ticking = asyncio.ensure_future(tick(clock))
        clock.after(3600 * 24, lambda: seen.append("far too early"))
        await asyncio.sleep(0)  # the ticker is asleep until tomorrow now
        clock.after(0, lambda: 1 / 0)
        clock.after(1, lambda: (seen.append("done"), done.set()))  # type: ignore[func-returns-value]
        await asyncio.wait_for(done.wait(), 30)
        ticking.cancel()
        return seen

    assert asyncio.run(run()) == ["done"]


@pytest.mark.parametrize("steps", range(5))
def test_the_ticker_ends_even_if_a_timer_comes_just_when_it_is_cancelled(steps: int) -> None:
    async def run() -> bool:
        clock = Clock.real()
        ticking = asyncio.ensure_future(tick(clock))
        await asyncio.sleep(0)
        clock.after(0, lambda: None)
        for _ in range(steps):
            await asyncio.sleep(0)
        ticking.cancel()
        done, _ = await asyncio.wait([ticking], timeout=10)
        return ticking in done

    assert asyncio.run(run())


def test_moments_are_written_as_kubernetes_does() -> None:
    assert timestamp(1_800_000_000.9) == "2027-01-15T08:00:00Z"
    assert micro_timestamp(1_800_000_000.25) == "2027-01-15T08:00:00.250000Z"
    assert parse_timestamp("2027-01-15T08:00:00.250000Z") == 1_800_000_000.25


def test_one_seed_gives_the_same_names_and_another_purpose_changes_nothing() -> None:
    first, second, other = Chance(7), Chance(7), Chance(8)
    second.stream("kubelet").random()
    assert (first.suffix(), first.uid()) == (second.suffix(), second.uid())
    assert first.suffix() != other.suffix()
    assert first.stream("a").random() != first.stream("b").random()
