"""What is remembered for a while, and no longer: expectations, limbo, what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.expectations import PATIENCE_S, Expectations
from controller.limbo import LIMBO_S, Limbo
from controller.recent import Recent

if TYPE_CHECKING:
    from controller_parts import Time


def test_a_write_is_expected_until_it_is_seen(time: Time) -> None:
    expectations = Expectations(time)
    expectations.expect("u1")
    assert [expectations.pending(uid) for uid in ("u1", "u2")] == [True, False]
    expectations.met("u1")
    expectations.met("u2")
    assert not expectations.pending("u1")


def test_a_write_that_never_comes_back_is_believed_to_be_lost(time: Time) -> None:
    expectations = Expectations(time)
    expectations.expect("u1")
    time.now += PATIENCE_S - 1
    assert expectations.pending("u1")
    expectations.expect("u1")
    time.now += PATIENCE_S - 1
    assert expectations.pending("u1")
    time.now += 1
    assert not expectations.pending("u1")


def test_expectations_that_nobody_asks_about_are_forgotten(time: Time) -> None:
    expectations = Expectations(time)
    for number in range(100):
        expectations.expect(str(number))
        time.now += PATIENCE_S / 10
    assert len(expectations) == 10


def test_pods_out_of_sight_are_counted_until_found_or_given_up(time: Time) -> None:
    limbo = Limbo(time)
    for uid in ("u1", "u2", "u2"):
        limbo.put("rs-1", "shop", uid)
    limbo.put("rs-2", "shop", "u3")
    assert (limbo.of("rs-1"), limbo.of("rs-2"), limbo.of("rs-3")) == (2, 1, 0)
    limbo.found("shop", "u1")
    limbo.found("shop", "u9")
    assert limbo.of("rs-1") == 1
    time.now += LIMBO_S
    limbo.put("rs-1", "shop", "u4")
    assert (limbo.of("rs-1"), limbo.of("rs-2")) == (1, 0)


def test_what_was_put_in_longest_ago_is_forgotten_first() -> None:
    recent: Recent[int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.put("a", 3)
    recent.put("c", 4)
    assert [recent.get(key) for key in "abc"] == [3, None, 4]


def test_what_changes_is_told_from_what_is_the_same() -> None:
    recent: Recent[int] = Recent()
    assert [recent.changes("a", value) for value in (1, 1, 2)] == [True, False, True]
