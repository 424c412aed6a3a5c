"""How fast we write when nothing fails."""

from __future__ import annotations

import pytest

from evencore.kube.bucket import Bucket


def test_a_burst_goes_at_once_and_then_one_in_each_twentieth_of_a_second() -> None:
    bucket = Bucket(20.0, 40)
    waits = [bucket.take(100.0) for _ in range(43)]
    assert waits[:40] == [0.0] * 40
    assert waits[40:] == pytest.approx([0.05, 0.10, 0.15])


def test_time_fills_it_up_again_and_not_above_the_burst() -> None:
    bucket = Bucket(2.0, 3)
    assert [bucket.take(0.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert [bucket.take(1.0) for _ in range(2)] == [0.0, 0.5]
    assert [bucket.take(9000.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


@pytest.mark.parametrize("burst", [1, 7, 40])
def test_in_no_stretch_of_time_are_there_more_than_the_burst_and_the_rate(burst: int) -> None:
    bucket, now, sent = Bucket(20.0, burst), 0.0, []
    for number in range(500):
        now += (number * 7919 % 13) / 100.0
        sent.append(now + bucket.take(now))
    for first, start in enumerate(sent):
        for last in range(first, len(sent)):
            assert last - first + 1 <= burst + (sent[last] - start) * 20.0 + 1e-6


@pytest.mark.parametrize(("per_second", "burst"), [(0.0, 1), (-1.0, 1), (20.0, 0)])
def test_one_that_would_never_give_is_refused(per_second: float, burst: int) -> None:
    with pytest.raises(ValueError, match="would never write"):
        Bucket(per_second, burst)
