"""Quantities are read exactly; what is none is refused at once, with the value named."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evencore.domain.quantity import QuantityError, format_millis, parse_millis, parse_nanos

MILLI = 10**6
ONE = 10**9


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param("2", 2 * ONE, id="a whole number"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-0", 0, id="minus zero"),
        pytest.param("007", 7 * ONE, id="leading zeros"),
        pytest.param("+3", 3 * ONE, id="a plus sign"),
        pytest.param("-3", -3 * ONE, id="a minus sign"),
        pytest.param(".5", ONE // 2, id="no digit before the point"),
        pytest.param("2.", 2 * ONE, id="no digit behind the point"),
        pytest.param("3850m", 3850 * MILLI, id="milli"),
        pytest.param("0.1m", MILLI // 10, id="a tenth of a milli"),
        pytest.param("1500u", 1500 * 1000, id="micro"),
        pytest.param("100n", 100, id="nano"),
        pytest.param("1.001k", 1001 * ONE, id="kilo"),
        pytest.param("1M", 10**6 * ONE, id="mega"),
        pytest.param("1E", 10**18 * ONE, id="exa, not an exponent"),
        pytest.param("1E3", 1000 * ONE, id="a capital exponent"),
        pytest.param("4e0", 4 * ONE, id="an exponent of zero"),
        pytest.param("15e-1", 1500 * MILLI, id="a negative exponent"),
        pytest.param("1e+3", 1000 * ONE, id="an exponent with a plus sign"),
        pytest.param("1Ki", 1024 * ONE, id="kibi"),
        pytest.param("0.001Ki", 1024 * MILLI, id="a fraction of a kibi"),
        pytest.param("1Ei", 2**60 * ONE, id="exbi"),
        pytest.param("9007199254740993", 9007199254740993 * ONE, id="more than a double holds"),
        pytest.param("4.001", 4001 * MILLI, id="a fraction that no double has"),
        pytest.param("0.1n", 1, id="finer than nano is rounded up"),
        pytest.param("1e-40", 1, id="next to nothing is rounded up"),
        pytest.param("-0.1n", -1, id="rounded away from zero"),
        pytest.param("0e999999999", 0, id="zero times anything"),
        pytest.param("0" * 63 + "2", 2 * ONE, id="as long as any that we read"),
        pytest.param("1e40", 10**40 * ONE, id="as much as any that we read"),
        pytest.param(3, 3 * ONE, id="an integer"),
        pytest.param(2.5, 2500 * MILLI, id="a float"),
        pytest.param(1e22, 10**22 * ONE, id="a float with an exponent"),
    ],
)
def test_what_is_a_quantity_is_read_exactly(written: object, want: int) -> None:
    assert parse_nanos(written) == want


@pytest.mark.parametrize(
    ("suffixes", "base"),
    [
        (("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), 1000),
        (("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1024),
    ],
    ids=["decimal", "binary"],
)
def test_each_suffix_is_so_many_times_the_one_before(suffixes: tuple[str, ...], base: int) -> None:
    one = [parse_nanos(f"1{suffix}") for suffix in suffixes]
    assert [after // before for before, after in pairwise(one)] == [base] * (len(one) - 1)


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "2 ", " 2", "2\n", "abc", ".", "+", "-", "m", "Ki", "e3", "--1", "+-1", "1-"),
        *("1e", "1e+", "1e3m", "1e3Ki", "1m5", "1K", "1KI", "1ki", "1mi", "1kb", "1i", "1e1.5"),
        *("0x4", "1_000", "1,5", "1.2.3", "NaN", "nan", "inf", "-Infinity", "\u0663", "\uff13"),
        *("1\x00", "²", "½", "∞"),
        *("1e41", "-1e41", "1e999999999999", "2E6024865272343", "9" * 65, "1" + "0" * 41),
        *(True, False, None, [], {}, ["2"], b"2", float("nan"), float("inf"), 10**41, 1e300),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_quantity_is_refused(written: object) -> None:
    with pytest.raises(QuantityError, match="is no Kubernetes quantity"):
        parse_nanos(written)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        pytest.param("2 cores", "'2 cores'", id="text is quoted"),
        pytest.param("a\nb\u2028", r"'a\\nb\\u2028'", id="control characters are escaped"),
        pytest.param("x" * 500, "x{30,40}\\.\\.\\.", id="long text is cut"),
        pytest.param(["2"], "a list", id="of anything else the type is told"),
    ],
)
def test_the_refusal_names_the_value(written: object, named: str) -> None:
    with pytest.raises(QuantityError, match=named):
        parse_nanos(written)


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param("2", 2000, id="a whole number"),
        pytest.param("1999m", 1999, id="milli"),
        pytest.param("1999.5m", 2000, id="half a milli is rounded up"),
        pytest.param("100n", 1, id="as the API server rounds requests and limits"),
        pytest.param("0", 0, id="zero"),
    ],
)
def test_amounts_are_kept_in_thousandths_rounded_up(written: str, want: int) -> None:
    assert parse_millis(written) == want


@pytest.mark.parametrize("written", ["-1", -1, "-0.1n", "-1e-40"])
def test_an_amount_below_zero_is_refused(written: object) -> None:
    with pytest.raises(QuantityError, match="is negative"):
        parse_millis(written)


@pytest.mark.parametrize(
    ("millis", "want"), [(4000, "4"), (2500, "2500m"), (1, "1m"), (0, "0"), (10**22, str(10**19))]
)
def test_amounts_are_written_as_kubernetes_does(millis: int, want: str) -> None:
    assert format_millis(millis) == want


@pytest.mark.parametrize("millis", [0, 1, 999, 1000, 2500, 10**15])
def test_what_was_written_is_read_back(millis: int) -> None:
    assert parse_millis(format_millis(millis)) == millis
