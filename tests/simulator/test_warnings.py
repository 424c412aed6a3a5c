"""Warnings as headers: once each, cut only if there is too much, and never a header more."""

from __future__ import annotations

import pytest

from simulator.api.warnings import header

CASES = {
    "nothing": ([], ""),
    "one": (["hello"], '299 - "hello"'),
    "two": (["a", "b"], '299 - "a", 299 - "b"'),
    "the same twice": (["a", "a"], '299 - "a"'),
    "quotes and backslashes": (['say "a\\b"'], '299 - "say \\"a\\\\b\\""'),
    "a header of its own": (["a\r\nSet-Cookie: b"], ""),
    "other letters": (["2 µs"], '299 - "2 Âµs"'),
    "nothing in it": ([""], ""),
    "a long one": (["x" * 4096], f'299 - "{"x" * 4096}"'),
    "one that is too long": (["x" * 4097], f'299 - "{"x" * 256}"'),
}


@pytest.mark.parametrize(("warnings", "want"), CASES.values(), ids=CASES)
def test_a_warning_becomes_a_header(warnings: list[str], want: str) -> None:
    assert header(warnings) == want


def test_of_very_many_the_first_are_told() -> None:
    told = header(f"{number:03}" + "x" * 300 for number in range(100))
    assert told.count("299 - ") == 16
    assert told.startswith('299 - "000x')
