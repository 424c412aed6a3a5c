"""Every target of `make fuzz`, a little on every run: seeds, seeds that were damaged, anything.

`make fuzz` is guided by what of our code was reached, and goes on for as long as you like.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from fuzz.corpus import seeds
from fuzz.targets import TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import anything, damaged

if TYPE_CHECKING:
    from collections.abc import Callable

PIECES: Final = [
    b"", b"\x00", b'"', b"\\ud800", b"\\u0000", b"\xff", b"[", b"{", b"]", b"}", b",", b":",
    b"null", b"1e999999999", b"-0", b"9" * 400, b"[" * 300, b'{"a":' * 300, b'"uid":"again",',
    b"\r\n", b"\n", b"---\n", b"&a *a", b"<<: *a", b"!!binary ", b"\xe2\x80\xae", b"\xc2\x9b2J",
    b"evencore.io/", b"=", b"e", b"Ki", b"m", b".5", b"+", b"true", b"\xef\xbb\xbf",
]  # fmt: skip


@st.composite
def damaged_bytes(draw: st.DrawFn, wholes: list[bytes]) -> bytes:
    """Return a seed in which pieces were put, or taken out, or moved."""
    data = draw(st.sampled_from(wholes))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 30))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=4))
        again = data[at : at + length] if draw(st.booleans()) else b""
        data = data[:at] + piece + again * draw(st.integers(0, 2)) + data[at + length :]
    return data


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """Return what a target is tried with here."""
    wholes = seeds(target)
    found = [damaged_bytes(wholes), st.binary(max_size=80)]
    values = [value for whole in wholes if isinstance(value := _json(whole), dict | list)]
    if values:
        shaped: st.SearchStrategy[Any] = damaged(st.sampled_from(values)) | anything
        found.insert(0, shaped.map(lambda value: json.dumps(value).encode()))
    return st.one_of(found)


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return None


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_promised_holds_for_every_seed(target: str) -> None:
    assert seeds(target)
    for seed in seeds(target):
        TARGETS[target](seed)


def _fuzzed(target: str) -> Callable[[], None]:
    @settings(max_examples=60)
    @given(data=inputs(target))
    def fuzzed(data: bytes) -> None:
        TARGETS[target](data)

    return fuzzed


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_promised_holds_for_what_is_damaged(target: str) -> None:
    _fuzzed(target)()
