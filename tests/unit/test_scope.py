"""Which namespaces take part, and what a pod's own words tell of its exclusions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain.policy import Policy
from evencore.domain.scope import takes_part
from evencore.domain.verdict import Exclusion, excluded_in
from evencore.domain.views import Metadata, NamespaceView


@pytest.mark.parametrize(
    ("name", "labels", "want"),
    [
        ("shop", {"evencore.io/admission": "enabled"}, True),
        ("shop", {"evencore.io/admission": "disabled"}, False),
        ("shop", {}, False),
        ("shop", None, False),
        ("kube-system", {"evencore.io/admission": "enabled"}, False),
    ],
)
def test_a_namespace_takes_part(name: str, labels: dict[str, str] | None, *, want: bool) -> None:
    view = NamespaceView(Metadata(name, labels=labels))
    assert takes_part(name, view, Policy()) is want


def test_a_namespace_of_which_nothing_is_known_takes_no_part() -> None:
    assert not takes_part("shop", None, Policy())


NODES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\.[a-z0-9]{1,9})?", fullmatch=True)
EXCLUSIONS = st.builds(
    Exclusion,
    node=NODES,
    until=st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  bounds are naive
    reason=st.text(st.characters(codec="ascii", exclude_characters=" ")),
    rejections=st.integers(1, 99),
)


@given(st.lists(EXCLUSIONS))
def test_what_is_read_back_is_what_was_written(written: list[Exclusion]) -> None:
    """Whoever rewords the sentence rewords what reads it."""
    decision = "; ".join(["cpu 3 → 4", *(one.sentence for one in written), "held, until 10:42Z"])
    assert excluded_in(decision) == {one.node for one in written}


@pytest.mark.parametrize(
    ("decision", "want"),
    [
        ("", set()),
        ("let go 10:00Z: 10s after the last rejection", set()),
        ("not on n1 until 10:42Z: TopologyAffinityError, 2 rejections", {"n1"}),
        ("x; not on n1.example until 10:42Z: a; not on n-2 until 10:43Z: b", {"n1.example", "n-2"}),
        ("held, until 10:42Z at most: why", set()),
    ],
)
def test_the_nodes_that_a_decision_kept_a_pod_off(decision: str, want: set[str]) -> None:
    assert excluded_in(decision) == want
