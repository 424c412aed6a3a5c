"""At every instant what every replica serves verifies against what is trusted.

Whatever keepers come, go and are killed, in whatever order they read and write, whatever the wall
clock says, and however long replicas take to hear of the Secret, up to the spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from certs_support import AIMS, NOW, World, read_once, verifies
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from certs.reading import read_leaf
from certs.rotation import MakeAuthority, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from certs.keeper import Keeper

REPLICAS = 2
SECOND = timedelta(seconds=1)


@dataclass
class Replica:
    """Serves what it last took from the Secret; hears of a change after `delay` at most."""

    delay: timedelta
    serves: bytes = b""
    heard: bytes = b""

    def hear(self, data: dict[str, bytes]) -> None:
        if not isinstance(read_leaf(data), str):
            self.serves = data["tls.crt"]


class Drama(World):
    """A world with replicas, and time that passes in steps in which these hear of things."""

    def __init__(self, delays: list[int]) -> None:
        super().__init__()
        self.settle()
        self.replicas = [Replica(timedelta(seconds=delay)) for delay in delays]
        self._due: list[tuple[int, Replica, dict[str, bytes]]] = []
        self._known = self.store.secret.version
        for replica in self.replicas:
            replica.hear(dict(self.store.secret.data))
        self.keepers: list[Keeper] = [self.keeper, self.another()]
        self.stale: list[Callable[[], float]] = []
        self.second = 0

    def check(self) -> None:
        if self.store.secret.version != self._known:
            self._known = self.store.secret.version
            for replica in self.replicas:
                at = self.second + int(replica.delay.total_seconds())
                self._due.append((at, replica, dict(self.store.secret.data)))
        for replica in self.replicas:
            assert verifies(replica.serves, self.store.bundle)
        assert len(self.held.authorities) <= 2

    def passes(self, seconds: int) -> None:
        """Let true time pass; replicas hear in time."""
        end = self.second + seconds
        for at, replica, data in sorted(self._due, key=lambda one: one[0]):
            if at <= end:
                replica.hear(data)
                self.check()
        self._due = [one for one in self._due if one[0] > end]
        self.second = end
        self.time.true = NOW + end * SECOND

    def act(self, who: int) -> None:
        self.keepers[who].step()
        self.check()

    def look(self, who: int) -> None:
        """Let a keeper read and decide; it is held up before it writes."""
        keeper = self.keepers[who]
        seen = keeper.look()
        assert not isinstance(seen, str)
        steady = timedelta(seconds=self.time.steady() - keeper.since)
        now = self.time.true + self.time.off
        step = plan(seen.held, seen.published, self.aims, now, steady)
        self.stale.append(lambda: keeper.carry_out(step, seen))

    def rotate(self, who: int) -> None:
        """Ask for a new authority, as a person may."""
        seen = self.keepers[who].look()
        assert not isinstance(seen, str)
        if len(seen.held.authorities) == 1:
            asked = MakeAuthority("asked for", seen.held.authorities, leaf=False)
            self.keepers[who].carry_out(asked, seen)
        self.check()


WHO = st.integers(0, 1)
STEPS = st.integers(0, 11)  # who, and how many steps one after the other
MOVES = st.one_of(
    st.tuples(st.just("act"), STEPS),
    st.tuples(st.just("act"), STEPS),
    st.tuples(st.just("look"), WHO),
    st.tuples(st.just("late"), st.just(0)),
    st.tuples(st.just("kill"), WHO),
    st.tuples(st.just("rotate"), WHO),
    st.tuples(st.just("seconds"), st.integers(1, 120)),
    st.tuples(st.just("hours"), st.sampled_from([1, 24, 200, 3000])),
    st.tuples(st.just("clock"), st.sampled_from([-3600, 3600, 0, 90 * 86400, -90 * 86400])),
)


def play(drama: Drama, move: str, how: int) -> None:
    match move:
        case "act":
            for _ in range(1 + how // 2):
                drama.act(how % 2)
        case "look":
            drama.look(how)
        case "late" if drama.stale:
            drama.stale.pop(0)()
            drama.check()
        case "kill":
            drama.keepers[how] = drama.another()
        case "rotate":
            drama.rotate(how)
        case "seconds":
            drama.passes(how)
        case "hours":
            drama.passes(how * 3600)
        case "clock":
            drama.time.off = how * SECOND


@given(
    delays=st.lists(st.integers(0, 59), min_size=REPLICAS, max_size=REPLICAS),
    moves=st.lists(MOVES, max_size=60),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_served_is_trusted_whoever_acts_and_whatever_the_clock_says(
    delays: list[int], moves: list[tuple[str, int]]
) -> None:
    # Keepers look thousands of times at the same few Secrets.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("certs.keeper.read_secret", read_once)
        live(Drama(delays), moves)


def live(drama: Drama, moves: list[tuple[str, int]]) -> None:
    drama.check()
    for move, how in moves:
        play(drama, move, how)
    event(f"{min(len(drama.store.authorities), 4)} authorities")
    # Left alone with a right clock, all is well in the end, and also in time.
    drama.time.off = timedelta()
    for _ in range(30):
        for who in (0, 1, 0, 1):
            drama.act(who)
        drama.passes(2 * 3600)
    assert drama.store.bundle == drama.held.authorities
    assert len(drama.held.authorities) == 1
    now = drama.time.true
    assert all(verifies(one.serves, drama.store.bundle, now) for one in drama.replicas)
    assert AIMS.overlap < 30 * timedelta(hours=2)
