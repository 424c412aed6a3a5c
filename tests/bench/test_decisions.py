"""The figures of decisions and of news are of what they say. No test here knows how fast it is."""

from __future__ import annotations

import pytest

from controller.flock import flock

from . import crowd, newsflash
from .decisions import Figure, bytes_per_pod, release_in, times, verdict_in


def test_the_owner_that_is_looked_at_has_held_pods_and_evidence() -> None:
    state, mirror = crowd.state(200)
    assert len(mirror) == 200
    found = flock(state.steered.of(crowd.owner(0)).values(), lambda _: False, crowd.NOW)
    assert (len(found.held), len(found.admitted)) == (25, 25)
    known = crowd.snapshot(crowd.nodes(30), 1)
    assert len(known.evidence.of(crowd.owner(0), crowd.NOW).nodes) == crowd.REJECTED_ON


def test_a_decision_is_timed_at_every_size() -> None:
    figures = times("verdict", (10, 20), verdict_in)
    assert [figure.size for figure in figures] == [10, 20]
    assert figures[0].times == 1.0
    assert release_in(100)()


@pytest.mark.parametrize(("grew", "met"), [(1.9, True), (2.1, False)])
def test_the_logarithm_is_the_limit(grew: float, *, met: bool) -> None:
    assert Figure("x", 100, 1.0, grew, 2.0).met is met


def test_memory_is_counted_by_the_pod() -> None:
    assert 100 < bytes_per_pod(200) < 10_000


def test_news_of_a_rejection_reaches_the_real_webhook() -> None:
    heeded, answers = newsflash.measure(2)
    assert len(heeded) == len(answers) == 2
    assert min(heeded) > 0
