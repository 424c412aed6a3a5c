"""Lines from chunks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evencore.kube.reply import split_lines

CHUNKS = st.lists(st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r", b" "])).map(b"".join))


@given(CHUNKS)
def test_however_it_is_cut_the_lines_are_those_of_the_whole(chunks: list[bytes]) -> None:
    whole = b"".join(chunks).split(b"\n")[:-1]
    assert list(split_lines(chunks)) == [line for line in whole if line.strip()]


def test_a_line_that_never_ends_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(ValueError, match="no newline in 1001 bytes"):
        list(split_lines((b"x" for _ in range(10_000)), longest=1000))


def test_many_small_chunks_cost_no_more_than_their_bytes() -> None:
    def cost_s(count: int) -> float:
        chunks = [b"x" * 100] * count + [b"\n"]
        best = float("inf")
        for _ in range(3):
            started = time.thread_time()
            assert len(list(split_lines(chunks))) == 1
            best = min(best, time.thread_time() - started)
        return best

    # Ten times the chunks; a quadratic loop would need a hundred times as long.
    assert cost_s(100_000) < 50 * cost_s(10_000)
