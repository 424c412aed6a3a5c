"""Our quantities against those of the official client; every way to differ has its name.

Where they differ, ours follows quantity.go: the official reader takes what Python's Decimal takes.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from evencore.domain.quantity import QuantityError, parse_nanos


def ours(text: str) -> int | None:
    try:
        return parse_nanos(text)
    except QuantityError:
        return None


def theirs(text: str) -> Decimal | None:
    try:
        return parse_quantity(text)
    except ValueError:
        return None


def explain(text: str, value: Decimal) -> str | None:
    """Say why we refuse or change what the official client reads as `value`; None = no reason."""
    if not value.is_finite():
        return "no number: NaN and Infinity"
    if not text.isascii():
        return "digits of other scripts"
    if "_" in text or text.strip() != text or " " in text:
        return "underscores and blanks between digits"
    if re.search(r"[eE][+-]?[0-9]+[numkKMGTPE]", text):
        return "an exponent and a unit together"
    if text.endswith("K"):
        return "capital K for thousands"
    if len(text) > 64 or abs(value) > Decimal("1e40"):
        return "more than any machine has"
    if len(value.as_tuple().digits) >= 28:
        return "more digits than a Decimal keeps"
    if nanos(value).denominator > 1:
        return "finer than nano: rounded away from zero"
    return None


def nanos(value: Decimal) -> Fraction:
    """Return an amount in units of 10⁻⁹, exactly."""
    return Fraction(value) * 10**9


EXAMPLES = [
    pytest.param("NaN", None, "no number: NaN and Infinity", id="NaN"),
    pytest.param("-Infinity", None, "no number: NaN and Infinity", id="minus infinity"),
    pytest.param("\u0663", None, "digits of other scripts", id="an Arabic three"),
    pytest.param("\uff13", None, "digits of other scripts", id="a full-width three"),
    pytest.param("1_000", None, "underscores and blanks between digits", id="an underscore"),
    pytest.param(" 1", None, "underscores and blanks between digits", id="a blank in front"),
    pytest.param("1\n", None, "underscores and blanks between digits", id="a line end behind"),
    pytest.param("1e3m", None, "an exponent and a unit together", id="exponent and milli"),
    pytest.param("1e3Ki", None, "an exponent and a unit together", id="exponent and kibi"),
    pytest.param("1K", None, "capital K for thousands", id="capital K"),
    pytest.param("1e41", None, "more than any machine has", id="ten to the 41"),
    pytest.param("0" * 65, None, "more than any machine has", id="65 zeros"),
    pytest.param("1e-10", 1, "finer than nano: rounded away from zero", id="a tenth of a nano"),
    pytest.param("-0.1n", -1, "finer than nano: rounded away from zero", id="minus a tenth"),
]


@pytest.mark.parametrize(("text", "want", "reason"), EXAMPLES)
def test_each_difference_has_an_example(text: str, want: int | None, reason: str) -> None:
    value = theirs(text)
    assert value is not None
    assert ours(text) == want
    assert explain(text, value) == reason


def test_a_decimal_keeps_28_digits_and_we_keep_all() -> None:
    text = "12345678901234567890123456789.5k"
    value = theirs(text)
    assert value is not None
    assert ours(text) == 12345678901234567890123456789500 * 10**9
    assert nanos(value) != ours(text)
    assert explain(text, value) == "more digits than a Decimal keeps"


_number = st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,12})?", fullmatch=True)
_suffix = st.sampled_from(
    ["", "n", "u", "m", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Ei", "ki", "mi", "i", "e"]
) | st.from_regex(r"[eE][+-]?[0-9]{1,3}[mKi]?", fullmatch=True)
_texts = st.one_of(
    st.builds("".join, st.tuples(_number, _suffix)),
    st.text(alphabet="0123456789.+-eEnumkKMGi_ ", max_size=12),
    st.text(max_size=6),
)


@settings(max_examples=800)
@given(text=_texts)
def test_the_official_client_reads_the_same_or_the_difference_has_a_name(text: str) -> None:
    have, value = ours(text), theirs(text)
    if value is None:
        # What Python cannot read is no quantity to us either.
        assert have is None
    elif not value.is_finite() or have != nanos(value):
        assert explain(text, value)
