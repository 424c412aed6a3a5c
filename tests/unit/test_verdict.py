"""What rejections mean for the next pod: which nodes are excluded, how long, and when to hold."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from builders import NOW

from evencore.domain.ledger import Ledger
from evencore.domain.policy import Exclusions, Holds, Policy
from evencore.domain.rejection import Kind, Rejection
from evencore.domain.snapshot import Nodes
from evencore.domain.topology import NodeFacts
from evencore.domain.verdict import Candidates, Exclusion, Verdict, exclusions, verdict
from evencore.domain.views import OwnerReference

if TYPE_CHECKING:
    from evencore.domain.evidence import Evidence

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


@pytest.mark.parametrize(
    ("since", "excluded"),
    [
        pytest.param(-MINUTE, True, id="before the rejection: it is the room that was too little"),
        pytest.param(timedelta(0), False, id="in the same second: in doubt there is hope"),
        pytest.param(MINUTE / 2, False, id="after it"),
    ],
)
def test_room_ends_an_exclusion(since: timedelta, *, excluded: bool) -> None:
    ago = MINUTE
    assert bool(ends(rejection("n1", ago), n1=NOW - ago + since)) is excluded
    assert "n1" in ends(rejection("n1", ago), n2=NOW)


# Rung 4.

HERE = Nodes(NodeFacts(f"n{number}", {}) for number in range(30))
ANYWHERE = HERE.index.all


def judged(
    *rejections: Rejection,
    kind: str = "ReplicaSet",
    group: str = "apps/v1",
    usable: int = ANYWHERE,
    policy: Policy | None = None,
    **rooms: datetime,
) -> Verdict:
    owner = OwnerReference(group, kind, "app", "rs-1", True)
    candidates = Candidates(HERE, usable, rooms)
    return verdict(evidence(*rejections), owner, candidates, NOW, policy or Policy())


def some(number: int, ago: timedelta = 3 * MINUTE) -> list[Rejection]:
    """Rejections on one node, a second apart; the newest so long ago."""
    return [rejection("n1", ago + n * timedelta(seconds=1)) for n in range(number)]


HOLDS = {
    "none": ([], {}, None),
    "two of a ReplicaSet": (some(2), {}, None),
    "three": (some(3), {}, "3 rejections within 10m, the last on n1: TopologyAffinityError"),
    "three, the first too long ago": ([*some(2), rejection("n2", 10 * MINUTE)], {}, None),
    "very many": (
        some(300),
        {},
        "16 or more rejections within 10m, the last on n1: TopologyAffinityError",
    ),
    "one of a Job": (
        some(1),
        {"kind": "Job", "group": "batch/v1"},
        "1 rejection within 10m, the last on n1: TopologyAffinityError",
    ),
    "one of a Job, long ago": (some(1, 10 * MINUTE), {"kind": "Job", "group": "batch/v1"}, None),
    "of a ReplicationController": (
        some(3),
        {"kind": "ReplicationController", "group": "v1"},
        "3 rejections within 10m, the last on n1: TopologyAffinityError",
    ),
    "of a StatefulSet": (
        some(3),
        {"kind": "StatefulSet"},
        "3 rejections within 10m, the last on n1: TopologyAffinityError",
    ),
    "of a DaemonSet": (some(9), {"kind": "DaemonSet"}, None),
    "of an operator's kind": (some(9), {"kind": "Cluster", "group": "example.io/v1"}, None),
    "of an operator's kind of a well-known name": (
        some(9),
        {"kind": "Job", "group": "batch.volcano.sh/v1alpha1"},
        None,
    ),
    "the only node that it may use": (
        some(1, MINUTE),
        {"usable": HERE.index.named("n1")},
        "every node that it may use has just rejected its like: TopologyAffinityError",
    ),
    "the only node, but there is more room now": (
        some(1, MINUTE),
        {"usable": HERE.index.named("n1"), "n1": NOW},
        None,
    ),
    "no node that it may use is known": (some(1, MINUTE), {"usable": 0}, None),
    "the thresholds are settings": (
        some(1),
        {"policy": Policy(holds=Holds(after=1, within=5 * MINUTE))},
        "1 rejection within 5m, the last on n1: TopologyAffinityError",
    ),
    "too many nodes to name": (
        [rejection(f"n{n}") for n in range(21)],
        {"policy": Policy(holds=Holds(within=timedelta(0)))},
        "more than 20 nodes have just rejected its like",
    ),
    "twenty can be named": (
        [rejection(f"n{n}") for n in range(20)],
        {"policy": Policy(holds=Holds(within=timedelta(0)))},
        None,
    ),
}


@pytest.mark.parametrize(("rejections", "given", "want"), HOLDS.values(), ids=HOLDS)
def test_the_next_pod_is_held(
    rejections: list[Rejection], given: dict[str, Any], want: str | None
) -> None:
    assert judged(*rejections, **given).hold == want


def test_an_owner_of_another_kind_is_kept_off_nodes_all_the_same() -> None:
    """Case 38."""
    found = judged(*some(1, MINUTE), kind="Cluster", group="example.io/v1")
    assert [one.node for one in found.exclusions] == ["n1"]


def test_no_more_than_twenty_nodes_are_excluded() -> None:
    assert len(judged(*(rejection(f"n{n}") for n in range(30))).exclusions) == 20


def test_the_first_refusal_of_a_job_counts_before_its_next_pod() -> None:
    """Case 36: with few retries a threshold of 3 would end the Job."""
    refused = rejection("n1", timedelta(seconds=10))
    found = judged(refused, kind="Job", group="batch/v1")
    assert [one.node for one in found.exclusions] == ["n1"]
    assert found.hold is not None
