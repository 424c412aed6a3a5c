"""Who leads: the rules one by one, and never two at once."""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING

import pytest

from evencore.kube.election import Claim, Election, Lost, Record, Timing, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OTHER = Record("other", 15.0, "then", "t1", 4)
MINE = Record("me", 15.0, "then", "t1", 7)


def _election() -> Election:
    return Election("me", Timing())


def _leading(now: float = 100.0) -> Election:
    election = _election()
    assert election.wrote(MINE, now, now) is None
    return election


def test_a_lease_that_is_not_there_is_made() -> None:
    assert _election().step(None, 1.0) == Claim(0, fresh=True)


def test_a_lease_that_was_given_back_is_taken_at_once() -> None:
    assert _election().step(OTHER._replace(holder=""), 1.0) == Claim(5, fresh=True)


def test_the_holder_has_its_whole_duration_from_the_moment_that_we_saw_its_sign() -> None:
    election = _election()
    assert election.step(OTHER, 100.0) == Wait("other")
    assert election.step(OTHER, 114.9) == Wait("other")
    # It renewed: from now on it has all of it again, whatever its clock says.
    assert election.step(OTHER._replace(renewed="t2"), 114.9) == Wait("other")
    assert election.step(OTHER._replace(renewed="t2"), 129.8) == Wait("other")
    assert election.step(OTHER._replace(renewed="t2"), 129.9) == Claim(5, fresh=True)


def test_the_duration_that_counts_is_the_holders_own() -> None:
    election, slow = _election(), OTHER._replace(duration_s=60.0)
    election.step(slow, 0.0)
    assert election.step(slow, 59.0) == Wait("other")
    assert election.step(slow, 60.0) == Claim(5, fresh=True)


def test_a_lease_without_a_duration_lasts_as_long_as_ours() -> None:
    election, odd = _election(), OTHER._replace(duration_s=None)
    election.step(odd, 0.0)
    assert election.step(odd, 14.9) == Wait("other")
    assert election.step(odd, 15.0) == Claim(5, fresh=True)


def test_a_lease_that_is_ours_already_is_renewed_and_counts_no_transition() -> None:
    # An answer was lost, or a predecessor had our name.
    assert _election().step(MINE, 1.0) == Claim(7, fresh=False)


def test_a_leader_leads_until_its_deadline_and_not_a_moment_longer() -> None:
    election = _leading(100.0)
    assert election.leads(109.999)
    assert not election.leads(110.0)
    assert isinstance(election.step(MINE, 110.0), Lost)


def test_the_deadline_counts_from_when_the_renewal_was_sent() -> None:
    election = _leading(100.0)
    assert election.wrote(MINE, 102.0, 106.0) is None
    assert election.left_s(106.0) == 6.0


@pytest.mark.parametrize(
    ("sent_at", "came_at"), [(101.0, 110.0), (109.9, 110.1)], ids=["at", "after"]
)
def test_a_success_after_the_deadline_is_too_late(sent_at: float, came_at: float) -> None:
    # In between, `leads` said no: who asked may have given up already.
    election = _leading(100.0)
    assert isinstance(election.wrote(MINE, sent_at, came_at), Lost)
    assert not election.leads(came_at)


def test_a_first_success_that_took_longer_than_the_deadline_is_too_late() -> None:
    assert isinstance(_election().wrote(MINE, 100.0, 111.0), Lost)


@pytest.mark.parametrize("holder", ["other", ""])
def test_a_leader_that_reads_another_holder_has_lost(holder: str) -> None:
    election = _leading()
    assert isinstance(election.step(OTHER._replace(holder=holder), 101.0), Lost)
    assert not election.leads(101.0)


def test_a_leader_whose_lease_was_deleted_makes_it_again() -> None:
    assert _leading().step(None, 101.0) == Claim(0, fresh=True)


def test_a_leader_tries_again_every_two_seconds_and_sooner_before_its_deadline() -> None:
    election, now, tries = _leading(100.0), 100.0, []
    while election.leads(now):
        now += election.pause_s(now, lambda: 0.9, 60.0)
        tries.append(now)
    assert tries == [102.0, 104.0, 106.0, 108.0, 109.0, 110.0]
    assert election.pause_s(111.0, lambda: 0.9) == 0.0


def test_the_others_try_again_with_jitter_or_when_the_server_wants() -> None:
    election = _election()
    assert election.pause_s(0.0, lambda: 0.0) == 2.0
    assert election.pause_s(0.0, lambda: 1.0) == pytest.approx(4.4)
    assert election.pause_s(0.0, lambda: 0.0, 9.0) == 9.0
    assert election.pause_s(0.0, lambda: 0.0, 3600.0) == 15.0


@pytest.mark.parametrize(
    ("timing", "wrong"),
    [
        ((15.0, 15.0, 2.0), ["renew deadline"]),
        ((15.0, 10.0, 9.0), ["retry period"]),
        ((15.0, 10.0, 0.0), ["retry period"]),
        ((2.5, 1.0, 0.1), ["whole seconds"]),
        ((0.0, 10.0, 10.0), ["whole seconds", "renew deadline", "retry period"]),
    ],
)
def test_times_that_do_not_fit_are_refused_all_at_once(
    timing: tuple[float, float, float], wrong: list[str]
) -> None:
    with pytest.raises(ValueError, match=wrong[0]) as caught:
        Timing(*timing)
    assert [word for word in wrong if word not in str(caught.value)] == []


class World:
    """One Lease and a network that delays and loses, each way; time passes in small steps."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  a test that can be repeated
        self.now = 0.0
        self.record: Record | None = None
        self.version = 0
        self.leaders: deque[str] = deque()

    def way(self) -> Iterator[None]:
        """Travel for up to four seconds, mostly much less."""
        arrives = self.now + self.random.choice([0.01, 0.05, 0.5, 4.0]) * self.random.random()
        while self.now < arrives:
            yield

    def lossy(self) -> bool:
        return self.random.random() < 0.15


def _candidate(world: World, name: str) -> Iterator[None]:
    """Live many lives, as `lease.Elector` does, on a clock of one's own."""
    ahead = world.random.uniform(-1e6, 1e6)
    for life in range(1000):
        election = Election(f"{name}{life}", Timing())
        clock: Callable[[], float] = lambda: world.now + ahead  # noqa: E731  read as a value
        while True:
            if election.leads(clock()):
                world.leaders.append(name)
            yield from world.way()
            record, version = world.record, world.version
            yield from world.way()
            action = election.step(record, clock())
            if isinstance(action, Lost):
                break
            if isinstance(action, Claim):
                sent_at, lost_there, lost_back = clock(), world.lossy(), world.lossy()
                wrote = Record(f"{name}{life}", 15.0, "", str(world.random.random()), 0)
                yield from _watched(world, election, name, clock, world.way())
                accepted = not lost_there and world.version == version
                if accepted:
                    world.record, world.version = wrote, world.version + 1
                yield from _watched(world, election, name, clock, world.way())
                if accepted and not lost_back and election.wrote(wrote, sent_at, clock()):
                    break
            ends = world.now + election.pause_s(clock(), world.random.random)
            if world.random.random() < 0.02:
                ends += 40.0  # the process is stopped, or the machine sleeps
            yield from _watched(world, election, name, clock, _until(world, ends))


def _until(world: World, moment: float) -> Iterator[None]:
    while world.now < moment:
        yield


def _watched(
    world: World, election: Election, name: str, clock: Callable[[], float], way: Iterator[None]
) -> Iterator[None]:
    """Say at each step of time whether this one leads."""
    for _ in way:
        if election.leads(clock()):
            world.leaders.append(name)
        yield


@pytest.mark.parametrize("seed", range(10))
def test_never_do_two_lead_whatever_the_network_and_the_clocks_do(seed: int) -> None:
    world = World(seed)
    lives = [_candidate(world, name) for name in "abc"]
    led: set[str] = set()
    for _ in range(20_000):  # half an hour
        world.now += 0.1
        world.leaders.clear()
        for life in lives:
            next(life)
        assert len(set(world.leaders)) <= 1
        led.update(world.leaders)
    assert len(led) > 1
