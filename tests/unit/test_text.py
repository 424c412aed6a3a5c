"""Small pieces of sentences."""

from __future__ import annotations

from datetime import timedelta

import pytest
from builders import NOW

from evencore.domain.names import node_label_value
from evencore.domain.text import clock, count, cut, duration, one_of, quoted


@pytest.mark.parametrize(
    ("values", "want"),
    [(["a"], "a"), (["a", "b"], "a or b"), ([1, 2, 4], "1, 2 or 4")],
)
def test_alternatives_are_listed(values: list[object], want: str) -> None:
    assert one_of(values) == want


def test_the_last_word_between_alternatives_can_be_another() -> None:
    assert one_of([3, 5], last="and") == "3 and 5"


@pytest.mark.parametrize(
    ("number", "want"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes")], ids=["none", "one", "two"]
)
def test_things_are_counted(number: int, want: str) -> None:
    assert count(number, "node") == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param("on", "'on'", id="text in quotes"),
        pytest.param("a\nb\x1b", r"'a\nb\x1b'", id="control characters escaped"),
        pytest.param("ü", r"'\xfc'", id="other scripts escaped"),
        pytest.param("x" * 100, "'" + "x" * 39 + "...", id="long text cut"),
        pytest.param(7, "7", id="numbers as they are"),
    ],
)
def test_what_somebody_wrote_is_shown_safely(value: object, want: str) -> None:
    assert quoted(value) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("short", "short", id="short text stays"),
        pytest.param("123456789", "123456789", id="one byte below the limit"),
        pytest.param("1234567890", "123456...", id="at the limit it is cut"),
        pytest.param("12345→890", "12345...", id="never inside a character"),
        pytest.param("→→→→", "→→...", id="bytes count, not characters"),
    ],
)
def test_text_is_cut_below_a_limit_of_bytes(text: str, want: str) -> None:
    assert cut(text, 10) == want


@pytest.mark.parametrize("limit", range(5, 40))
def test_cut_text_is_always_below_the_limit(limit: int) -> None:
    assert len(cut("aä→𝄞" * 10, limit).encode()) < limit


def test_a_node_name_is_its_own_label_value() -> None:
    assert node_label_value("n" * 63) == "n" * 63


def test_a_node_name_that_is_too_long_for_a_label_becomes_a_hash() -> None:
    value = node_label_value("n" * 64)
    assert len(value) == 63
    assert value != node_label_value("n" * 65)
    assert set(value) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        (0, "0s"),
        (0.5, "500ms"),
        (10, "10s"),
        (90, "1m30s"),
        (900, "15m"),
        (3600, "1h"),
        (5400, "1h30m"),
        (5401, "1h30m1s"),
    ],
)
def test_durations_are_as_people_write_them(seconds: float, want: str) -> None:
    assert duration(timedelta(seconds=seconds)) == want


def test_moments_are_in_utc() -> None:
    assert clock(NOW.astimezone()) == "10:40Z"
