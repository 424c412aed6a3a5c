"""A few stories in every run, and that they would notice; `make soak` plays many."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from soak import mutants
from soak.play import play
from soak.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS = (1, 2)
MINUTES = 10


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Keep what fails on purpose out of the log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_every_promise_holds_whatever_happens() -> None:
    report, seen = Report(), Counter[str]()
    for seed in SEEDS:
        world = play(seed, MINUTES)
        report.add(world)
        seen.update(world.witness.seen)
    # Stories in which nothing happens would promise nothing.
    missing = [name for name in ("rejected", "held", "let go", "deleted") if not seen[name]]
    assert not missing, f"in no story: {missing}\n{report.text()}"


def test_a_seed_is_a_whole_story() -> None:
    first, second = (play(11, minutes=3) for _ in range(2))
    assert first.log == second.log
    assert first.witness.seen == second.witness.seen


@pytest.mark.parametrize(
    "name", ["webhook refuses", "deletes without a uid", "nodes without a uid"]
)
def test_a_mistake_is_noticed(name: str) -> None:
    """All others are tried by `python -m soak.mutants`, which takes too long for every run."""
    assert mutants.noticed(name, stories=3, minutes=10), f"no story notices: {name}"
