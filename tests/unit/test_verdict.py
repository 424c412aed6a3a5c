"""For how long a node that rejected pods of an owner is kept from its next ones."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from builders import NOW

from evencore.domain.evidence import Evidence, Ledger
from evencore.domain.policy import Exclusions
from evencore.domain.rejection import Kind, Rejection
from evencore.domain.verdict import Exclusion, exclusions

MINUTE = timedelta(minutes=1)


def rejection(
    node: str = "n1",
    ago: timedelta | None = timedelta(0),
    kind: Kind = Kind.NO_ALIGNED_NUMA,
    uid: str | None = None,
    reason: str = "TopologyAffinityError",
) -> Rejection:
    at = None if ago is None else NOW - ago
    return Rejection(uid or f"{node}/{ago}/{kind}", "rs-1", node, kind, reason, at)


def evidence(*rejections: Rejection, now: datetime = NOW) -> Evidence:
    ledger = Ledger()
    for one in rejections:
        ledger.pod(one, now)
    return ledger.of("rs-1", now)


def found(
    *rejections: Rejection, times: Exclusions | None = None, **rooms: datetime
) -> tuple[Exclusion, ...]:
    return exclusions(evidence(*rejections).nodes, rooms, NOW, times or Exclusions())


def ends(*rejections: Rejection, **rooms: datetime) -> dict[str, timedelta]:
    """Node -> how much longer it is excluded."""
    return {e.node: e.until - NOW for e in found(*rejections, **rooms)}


@pytest.mark.parametrize(
    ("times", "want"),
    [(1, 2 * MINUTE), (2, 4 * MINUTE), (3, 8 * MINUTE), (4, 15 * MINUTE), (1000, 15 * MINUTE)],
)
def test_each_rejection_doubles_the_time_up_to_the_maximum(times: int, want: timedelta) -> None:
    assert ends(*(rejection(uid=str(n)) for n in range(times))) == {"n1": want}


def test_time_counts_from_the_newest_rejection() -> None:
    assert ends(rejection(ago=3 * MINUTE), rejection(ago=MINUTE)) == {"n1": 3 * MINUTE}


def test_an_exclusion_ends() -> None:
    assert ends(rejection(ago=2 * MINUTE)) == {}
    assert ends(rejection(ago=2 * MINUTE - timedelta(seconds=1))) == {"n1": timedelta(seconds=1)}


def test_nodes_do_not_share_their_rejections() -> None:
    two = ends(rejection("n1"), rejection("n2", uid="a"), rejection("n2", uid="b"))
    assert two == {"n1": 2 * MINUTE, "n2": 4 * MINUTE}


def test_one_pod_counts_once() -> None:
    assert ends(rejection(uid="a"), rejection(uid="a")) == {"n1": 2 * MINUTE}


def test_a_rejection_that_does_not_say_when_counts_as_of_now() -> None:
    assert ends(rejection(ago=None)) == {"n1": 2 * MINUTE}


@pytest.mark.parametrize("kind", [Kind.MISALIGNED, Kind.OUT_OF])
def test_what_another_node_cannot_cure_excludes_nothing(kind: Kind) -> None:
    assert ends(rejection(kind=kind)) == {}


def test_the_longest_exclusion_comes_first_then_the_name() -> None:
    order = ends(
        rejection("n3"), rejection("n1"), rejection("n2", uid="a"), rejection("n2", uid="b")
    )
    assert list(order) == ["n2", "n1", "n3"]


def test_nothing_is_excluded_without_evidence() -> None:
    assert ends() == {}


def test_the_times_are_settings() -> None:
    times = Exclusions(initial=30 * MINUTE, maximum=45 * MINUTE)
    assert [e.until - NOW for e in found(rejection(), times=times)] == [30 * MINUTE]
    twice = rejection(uid="a"), rejection(uid="b")
    assert [e.until - NOW for e in found(*twice, times=times)] == [45 * MINUTE]


def test_an_exclusion_can_be_switched_off_by_a_time_of_zero() -> None:
    assert found(rejection(), times=Exclusions(initial=timedelta(0))) == ()


@pytest.mark.parametrize(
    ("rejections", "want"),
    [
        pytest.param(
            [rejection()], "not on n1 until 10:42Z: TopologyAffinityError, 1 rejection", id="one"
        ),
        pytest.param(
            [rejection(uid="a", ago=MINUTE, reason="SMTAlignmentError"), rejection(uid="b")],
            "not on n1 until 10:44Z: TopologyAffinityError, 2 rejections",
            id="two, with the newest reason",
        ),
    ],
)
def test_an_exclusion_says_where_until_when_and_why(rejections: list[Rejection], want: str) -> None:
    (exclusion,) = found(*rejections)
    assert exclusion.sentence == want


def test_a_rejection_in_the_future_counts_as_of_now() -> None:
    assert ends(rejection(ago=timedelta(hours=-3))) == ends(rejection(ago=timedelta(0)))
