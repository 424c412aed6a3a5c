"""A few stories in every run: what was found by them stays found."""

from __future__ import annotations

import pytest

from soak.story import play


@pytest.mark.parametrize("seed", [1, 3, 7])
def test_every_promise_holds_whatever_happens(seed: int) -> None:
    story = play(seed, minutes=10)
    assert story.log, "nothing has happened"


def test_a_seed_is_a_whole_story() -> None:
    first, second = (play(11, minutes=2).log for _ in range(2))
    assert first == second
