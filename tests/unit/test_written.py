"""What people write, whatever they write: a value, or problems with places that are there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain.policy import Policy, PolicyError
from evencore.domain.topology import Topology
from evencore.domain.written import Written, keys, place, read
from evencore.settings import ControllerSettings, WebhookSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = (Policy, Topology, WebhookSettings, ControllerSettings)

HUGE = 1 << 20_000  # YAML knows 0x...; Python does not write such a number
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.builds(lambda: HUGE)
    | st.floats()
    | st.text(max_size=50)
    | st.dates()
    | st.binary(max_size=3)
)
WORDS = st.sampled_from(
    [
        "off",
        "warn",
        "hold",
        "none",
        "pod",
        "debug",
        "external",
        "self",
        "required",
        "90s",
        "2m",
        "1h30m",
        "0s",
        "500ms",
        "9999h",
        "999999s",
        "2",
        "2500m",
        "1e3",
        "0.5",
        "a,b",
        "[::]:1",
        ":1",
    ]
)
NUMBERS = st.integers(-1, 12)
JUNK = st.recursive(
    SCALARS | WORDS | NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
KNOWN = sorted({key for kind in KINDS for key in keys(kind)})
WITHIN = ("initial", "maximum", "after", "firstRelease", "slowestRelease", "keep", "typo")
MAPS = st.dictionaries(st.sampled_from(WITHIN), WORDS | NUMBERS | JUNK, max_size=4)
WRITTEN = JUNK | st.dictionaries(
    st.sampled_from(KNOWN) | st.text(max_size=60) | SCALARS.filter(lambda value: value == value),  # noqa: PLR0124  what is unequal to itself is no key to find again
    WORDS | NUMBERS | MAPS | JUNK,
    max_size=6,
)
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


def is_there(way: tuple[str, ...], value: object) -> bool:
    """Whether keys and numbers lead somewhere."""
    for step in way:
        items = value.items() if isinstance(value, dict) else enumerate(listed(value))
        found = [inner for key, inner in items if place(key) == step]
        if not found:
            return False
        value = found[0]
    return True


def listed(value: object) -> Sequence[object]:
    if isinstance(value, str):  # as the environment has lists
        return [part for part in map(str.strip, value.split(",")) if part]
    return value if isinstance(value, list) else ()


@EACH_KIND
@given(written=WRITTEN)
def test_anything_gives_a_value_or_problems_and_each_has_its_place(
    kind: type[Written], written: object
) -> None:
    made, problems = read(kind, written)
    assert isinstance(made, kind)
    assert [one.way for one in problems if not is_there(one.way, written)] == []
    assert [one for one in problems if not str(one).isprintable() or not one.text] == []


@EACH_KIND
@given(written=WRITTEN)
def test_what_is_made_has_no_problem_left_and_reads_back_equal(
    kind: type[Written], written: object
) -> None:
    made, _ = read(kind, written)
    assert read(kind, json.loads(json.dumps(made.as_written()))) == (made, [])


@EACH_KIND
@given(
    written=st.dictionaries(st.sampled_from(KNOWN), WORDS | NUMBERS | MAPS, max_size=6),
)
def test_what_is_right_is_kept_beside_what_is_wrong(
    kind: type[Written], written: dict[str, object]
) -> None:
    made, problems = read(kind, written)
    blamed = {one.way[0] for one in problems if one.way}
    right = {key: value for key, value in written.items() if key not in blamed}
    again, rest = read(kind, right)
    assert [one for one in rest if one.way] == []
    if not rest:  # of what does not go together, some is kept, too
        told = made.as_written()
        assert {key: told[key] for key in right} == {key: again.as_written()[key] for key in right}


@given(written=WRITTEN)
def test_a_policy_is_right_or_all_its_problems_are_raised(written: object) -> None:
    problems = [str(one) for one in read(Policy, {} if written is None else written)[1]]
    if not problems:
        assert isinstance(Policy.from_mapping(written), Policy)
        return
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping(written, "p.yaml")
    assert caught.value.problems == problems
    assert str(caught.value).splitlines() == [f"p.yaml: {problem}" for problem in problems]


def test_values_that_python_cannot_show_are_told_all_the_same() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    _, problems = read(Policy, {"cpu": HUGE, "holds": {"after": HUGE}, "topology": deep, HUGE: 1})
    *values, key = map(str, problems)
    assert [told.rpartition(", not ")[2] for told in values] == ["a value too large to show"] * 3
    assert key.startswith("a value too large to show: unknown; allowed here: cpu, ")


ALL = (
    "evencore.settings, evencore.flags, evencore.domain.policy, evencore.domain.topology, "
    "evencore.policy_file"
)


def test_what_the_processes_read_at_their_start_needs_no_pydantic() -> None:
    """It would cost them 17 MiB and a quarter of a second."""
    told = f"import sys, {ALL}; print([one for one in sys.modules if 'pydantic' in one])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
