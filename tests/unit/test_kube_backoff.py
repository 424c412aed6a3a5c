"""How long to wait: the two rules on their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evencore.kube.backoff import CEILING_S, FIRST_S, Backoff, Pace

NEVER, ALWAYS = (lambda: 0.0), (lambda: 0.999)


def test_waits_double_up_to_the_ceiling_and_jitter_at_most_doubles_them() -> None:
    least, most = Backoff(NEVER), Backoff(ALWAYS)
    assert [least.after_failure() for _ in range(7)] == [0.5, 1, 2, 4, 8, 15, 15]
    for _ in range(20):
        assert most.after_failure() <= CEILING_S


@pytest.mark.parametrize(
    ("healthy_s", "want"),
    [
        pytest.param(0.0, 8.0, id="a request that just failed"),
        pytest.param(9.9, 8.0, id="a short stream says nothing"),
        pytest.param(60.0, 6.0, id="a longer one: at most a tenth of its life"),
        pytest.param(119.0, 8.0, id="not quite two minutes: no reset"),
        pytest.param(120.0, 0.5, id="two minutes: starts over"),
    ],
)
def test_the_fifth_wait_depends_on_how_long_things_went_well(healthy_s: float, want: float) -> None:
    backoff = Backoff(NEVER)
    for _ in range(4):
        backoff.after_failure()
    assert backoff.after_failure(healthy_s) == want


def test_a_healthy_stretch_without_a_failure_counts_as_well() -> None:
    backoff = Backoff(NEVER)
    for _ in range(4):
        backoff.after_failure()
    backoff.went_well(119.0)
    assert backoff.after_failure() == 8.0
    backoff.went_well(240.0)
    assert backoff.after_failure() == 0.5


@pytest.mark.parametrize(
    ("asked_s", "least", "most"),
    [
        pytest.param(0.0, 0.5, 1.0, id="zero does not make it shorter"),
        pytest.param(1.0, 1.0, 1.1, id="one second"),
        pytest.param(1e9, 300.0, 330.0, id="for ever is cut to five minutes"),
    ],
)
def test_retry_after_is_a_minimum(asked_s: float, least: float, most: float) -> None:
    assert Backoff(NEVER).after_failure(0.0, asked_s) == least
    assert Backoff(ALWAYS).after_failure(0.0, asked_s) <= most


@given(
    random=st.floats(0.0, 1.0, exclude_max=True),
    lives=st.lists(st.floats(0.0, 1e6), max_size=30),
)
def test_no_wait_is_ever_shorter_than_half_a_second(random: float, lives: list[float]) -> None:
    backoff = Backoff(lambda: random)
    assert all(backoff.after_failure(lived_s) >= FIRST_S for lived_s in lives)


def test_every_request_is_owed_half_a_second_and_time_pays() -> None:
    pace = Pace()
    assert pace.owed(50.0) == 0.0
    pace.spend(50.0)
    pace.spend(50.0)
    assert pace.owed(50.0) == 1.0
    assert pace.owed(50.75) == 0.25
    pace.spend(50.75)
    assert pace.owed(50.75) == 0.75
    assert pace.owed(60.0) == 0.0
    pace.spend(60.0)
    assert pace.owed(60.0) == 0.5


def test_the_debt_of_a_list_of_a_thousand_pages_is_one_minute() -> None:
    pace = Pace()
    for _ in range(1000):
        pace.spend(50.0)
    assert pace.owed(50.0) == 60.0


@given(st.lists(st.integers(1, 5), min_size=2, max_size=40), st.floats(0.0, 0.2))
def test_a_loop_that_pays_after_each_turn_never_exceeds_two_a_second_on_average(
    turns: list[int], each_s: float
) -> None:
    pace, now, asked = Pace(), 0.0, 0
    for requests in turns:
        for _ in range(requests):
            pace.spend(now)
            now, asked = now + each_s, asked + 1
        now += pace.owed(now)
        assert asked <= 2 * now + 1e-6
