"""Which rejected pods may go: nobody decides otherwise without them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from builders import NOW
from hypothesis import given, settings
from hypothesis import strategies as st

from evencore.domain.cleaning import rejections_to_maximum, superfluous
from evencore.domain.evidence import MEMORY, MOST_TIMES, Seen
from evencore.domain.ledger import Ledger
from evencore.domain.policy import Exclusions, Holds, Policy, Rejections
from evencore.domain.rejection import Kind, Rejection
from evencore.domain.release import Flock, HeldPod, Release, release
from evencore.domain.snapshot import Nodes
from evencore.domain.topology import NodeFacts
from evencore.domain.verdict import Candidates, verdict
from evencore.domain.views import OwnerReference

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NODES = [f"n{number}" for number in range(4)]
CLUSTER = Nodes(NodeFacts(name, {}) for name in NODES)


def seen(number: int, ago: timedelta, node: str = "n1", *, released: bool = False) -> Seen:
    return Seen(NOW - ago, f"u{number}", node, "TopologyAffinityError", released)


def cleaned(rejections: list[Seen], policy: Policy | None = None) -> list[str]:
    return superfluous(sorted(rejections), NOW, policy or Policy())


def test_of_a_loop_a_few_are_left() -> None:
    """Case 34: those of the last three, and what makes the exclusion as long as it is."""
    loop = [seen(n, n * SECOND) for n in range(1000)]
    gone = cleaned(loop)
    assert gone == [f"u{n}" for n in range(999, 3, -1)]  # the oldest first


@pytest.mark.parametrize(("keep", "left"), [(0, 0), (3, 3), (10, 10)])
def test_of_those_that_are_evidence_no_more_the_newest_are_kept_for_people(
    keep: int, left: int
) -> None:
    old = [seen(n, MEMORY + n * MINUTE) for n in range(1, 20)]
    assert len(cleaned(old, Policy(rejections=Rejections(keep=keep)))) == 19 - left


@pytest.mark.parametrize(
    ("times", "number"),
    [
        (Exclusions(), 4),  # 2, 4, 8, 15 minutes
        (Exclusions(initial=MINUTE, maximum=MINUTE), 1),
        (Exclusions(initial=timedelta(0), maximum=MINUTE), 1),
    ],
)
def test_how_many_rejections_make_the_longest_exclusion(times: Exclusions, number: int) -> None:
    assert rejections_to_maximum(times) == number


def test_rejections_that_say_nothing_of_a_node_do_not_crowd_out_those_that_do() -> None:
    settling = [seen(n, n * SECOND, "n1")._replace(settling=True) for n in range(10)]
    telling = seen(99, 100 * SECOND, "n1")
    gone = cleaned([telling, *settling], Policy(rejections=Rejections(keep=0)))
    assert telling.uid not in gone
    assert len(gone) == 7  # the newest three make a loop


_seconds = st.integers(0, 5000) | st.integers(0, 60)
_rejections = st.lists(st.tuples(_seconds, st.sampled_from(NODES), st.booleans()), max_size=60).map(
    lambda told: [
        seen(n, seconds * SECOND, node, released=released)
        for n, (seconds, node, released) in enumerate(told)
    ]
)
_policies = st.builds(
    lambda after, jobs, keep, initial: Policy(
        holds=Holds(after=after, after_for_jobs=jobs),
        rejections=Rejections(keep=keep),
        exclusions=Exclusions(initial=initial * MINUTE),
    ),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(0, 5),
    st.integers(0, 15),
)
_OWNERS = [
    OwnerReference("apps/v1", "ReplicaSet", "app", "rs-1", True),
    OwnerReference("batch/v1", "Job", "app", "rs-1", True),
    OwnerReference("example.io/v1", "Cluster", "app", "rs-1", True),
]
_FLOCK = [HeldPod(NOW + 4000 * SECOND, "held")]


def read_anew(rejections: list[Seen]) -> Ledger:
    """Return what a process knows that starts and reads these pods."""
    ledger = Ledger()
    for at, uid, node, reason, released, _ in rejections:
        found = Rejection(uid, "rs-1", node, Kind.NO_ALIGNED_NUMA, reason, at, released=released)
        ledger.pod(found, NOW)
    return ledger


def follows(
    rejections: list[Seen], policy: Policy, later: datetime
) -> tuple[list[object], list[Release]]:
    """Return what follows from rejections: of the verdicts all but how they put it."""
    evidence = read_anew(rejections).of("rs-1", later)
    candidates = Candidates(CLUSTER, CLUSTER.index.all, {})
    verdicts: list[object] = []
    for owner in _OWNERS:
        found = verdict(evidence, owner, candidates, later, policy)
        verdicts += [(e.node, e.until, e.reason) for e in found.exclusions]
        verdicts.append(bool(found.hold))
    rooms = {"n1": NOW - 10 * SECOND}
    return verdicts, [
        release(Flock(_FLOCK, admitted=admitted), evidence, known, later, policy.holds)
        for admitted in ([], [NOW - 100 * SECOND])
        for known in ({}, rooms)
    ]


@settings(max_examples=300)
@given(_rejections, _policies, st.integers(0, 4000))
def test_verdict_and_release_are_the_same_without_what_was_deleted(
    rejections: list[Seen], policy: Policy, seconds: int
) -> None:
    """For a process that starts afterwards as well, now and at any time to come."""
    gone = set(cleaned(rejections, policy))
    left = [one for one in rejections if one.uid not in gone]
    for later in (NOW, NOW + seconds * SECOND):
        assert follows(left, policy, later) == follows(rejections, policy, later)


@settings(max_examples=100)
@given(_rejections, _policies)
def test_what_is_left_is_bounded_and_cleaning_twice_is_cleaning_once(
    rejections: list[Seen], policy: Policy
) -> None:
    gone = set(cleaned(rejections, policy))
    left = [one for one in rejections if one.uid not in gone]
    holds, per_node = policy.holds, rejections_to_maximum(policy.exclusions)
    most = policy.rejections.keep + max(holds.after, holds.after_for_jobs) + MOST_TIMES
    assert len(left) <= most + per_node * len(NODES)
    assert cleaned(left, policy) == []
