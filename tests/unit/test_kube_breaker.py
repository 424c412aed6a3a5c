"""When a server that does not take our writes is asked again."""

from __future__ import annotations

from evencore.kube.backoff import LONGEST_RETRY_AFTER_S
from evencore.kube.breaker import Breaker


def _breaker() -> Breaker:
    return Breaker(lambda: 0.0)


def test_as_long_as_all_is_well_everybody_goes() -> None:
    breaker = _breaker()
    assert [breaker.enter(1.0) for _ in range(9)] == [0.0] * 9
    breaker.went_well(1.0)
    assert breaker.enter(2.0) == 0.0


def test_after_a_failure_one_alone_tries_and_each_wait_is_longer() -> None:
    breaker, now, waits = _breaker(), 100.0, []
    for _ in range(8):
        assert breaker.enter(now) == 0.0
        assert now == 100.0 or breaker.enter(now) > 0.0  # the second one is sent away
        waits.append(breaker.failed(now, now + 0.1))
        assert breaker.closed_for(now + 0.2) > 0.0
        now += 0.1 + waits[-1]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_a_try_that_goes_well_opens_it_for_all_and_the_waits_start_over() -> None:
    breaker = _breaker()
    breaker.failed(0.0, 0.1)
    breaker.enter(1.0)
    assert breaker.failed(1.0, 1.1) == 1.0
    breaker.enter(3.0)
    breaker.went_well(3.0)
    assert [breaker.enter(3.1) for _ in range(3)] == [0.0] * 3
    assert breaker.failed(3.1, 3.2) == 0.5


def test_ten_that_fail_together_are_one_failure() -> None:
    breaker = _breaker()
    for number in range(10):
        wait_s = breaker.failed(0.0, 1.0 + number / 100.0)
    assert 0.4 < wait_s <= 0.5


def test_an_answer_to_what_was_sent_before_the_failure_does_not_hide_it() -> None:
    breaker = _breaker()
    breaker.failed(0.0, 1.0)
    breaker.went_well(0.9)
    assert breaker.closed_for(1.1) > 0.0


def test_what_the_server_asks_for_is_waited_for_up_to_a_limit() -> None:
    breaker = _breaker()
    assert breaker.failed(0.0, 1.0, 20.0) == 20.0
    # Sent together with it, and told to wait for longer.
    assert breaker.failed(0.0, 1.0, 30.0) == 30.0
    assert breaker.failed(0.0, 1.0, 1e9) == LONGEST_RETRY_AFTER_S


def test_a_longer_wish_that_comes_while_one_tries_does_not_make_its_answer_old() -> None:
    breaker = _breaker()
    breaker.failed(0.0, 1.0)
    assert breaker.enter(2.0) == 0.0
    breaker.failed(0.5, 2.1, 60.0)
    breaker.went_well(2.0)
    assert breaker.enter(2.2) == 0.0
