"""Evidence: whatever order its witnesses come in, it is the same, and holds only what counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from builders import NOW
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evencore.domain.evidence import MEMORY, MOST_TIMES, NONE, Evidence
from evencore.domain.ledger import Ledger
from evencore.domain.rejection import Kind, Rejection

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
SET = "StatefulSet/apps/web"


def of_pod(
    uid: str = "u1",
    at: datetime | None = NOW,
    node: str = "n1",
    owner: str = "rs-1",
    *,
    released: bool = False,
) -> Rejection:
    kind, reason = Kind.NO_ALIGNED_NUMA, "TopologyAffinityError"
    return Rejection(uid, owner, node, kind, reason, at, "apps", f"web-{uid}", None, released, at)


def of_event(uid: str = "u1", at: datetime | None = NOW, pod: str = "web-x") -> Rejection:
    return replace(of_pod(uid, at, owner=""), pod=pod)


def nodes(evidence: Evidence) -> list[tuple[str, int]]:
    return [(one.node, one.rejections) for one in evidence.nodes]


def test_a_failed_pod_counts_for_its_owner() -> None:
    ledger = Ledger()
    ledger.pod(of_pod(released=True), NOW)
    found = ledger.of("rs-1", NOW)
    assert nodes(found) == [("n1", 1)]
    assert found.times == found.failed_releases == (NOW,)
    assert found.newest == NOW
    assert ledger.of("rs-2", NOW) == NONE


def test_pod_and_event_of_one_rejection_count_once() -> None:
    ledger = Ledger()
    for _ in range(3):  # whatever number of changes arrive
        ledger.pod(of_pod(), NOW)
        ledger.event(of_event(at=NOW + SECOND), NOW)
    found = ledger.of("rs-1", NOW + SECOND)
    assert (nodes(found), found.newest) == ([("n1", 1)], NOW)  # the pod is the first witness


def test_the_event_stays_when_the_pod_is_gone_until_it_has_expired() -> None:
    ledger = Ledger()
    ledger.pod(of_pod(), NOW)
    ledger.event(of_event(), NOW)
    ledger.pod_gone("apps", "u1")
    assert nodes(ledger.of("rs-1", NOW)) == [("n1", 1)]
    assert ledger.pods_of("rs-1") == ()
    ledger.event_gone("apps", "u1")
    assert ledger.owners() == []


def test_a_stateful_set_is_known_by_its_event_alone() -> None:
    """Its controller deletes a rejected pod at once; the next has the same name."""
    ledger = Ledger()
    ledger.event(of_event("u1", pod="web-0"), NOW)
    ledger.event(of_event("u2", pod="web-0"), NOW)
    assert nodes(ledger.of(SET, NOW)) == [("n1", 2)]


def test_an_event_of_a_pod_that_is_no_ordinal_tells_of_nobody() -> None:
    ledger = Ledger()
    ledger.event(of_event(pod="web-6d9f4-x7k2p"), NOW)
    assert ledger.owners() == []


def test_a_pod_that_only_looked_like_one_of_a_stateful_set_moves_to_its_owner() -> None:
    """The suffix of a ReplicaSet's pod may be all digits, and its Event come first."""
    ledger = Ledger()
    ledger.event(of_event(pod="web-24567"), NOW)
    assert ledger.owners() == [SET]
    ledger.pod(of_pod(), NOW)
    assert ledger.owners() == ["rs-1"]


@pytest.mark.parametrize("kind", [k for k in Kind if not k.excludes])
def test_what_no_other_node_can_cure_is_no_evidence(kind: Kind) -> None:
    ledger = Ledger()
    ledger.pod(replace(of_pod(), kind=kind), NOW)
    ledger.event(replace(of_event(pod="web-0"), kind=kind), NOW)
    assert ledger.owners() == []


def test_a_pod_that_had_been_running_teaches_nothing() -> None:
    """Its kubelet restarted and refused it: startTime is old, the Event is new."""
    started = NOW - 30 * MINUTE
    ledger = Ledger()
    ledger.event(of_event(pod="web-0"), NOW)
    ledger.pod(of_pod(at=started, owner=SET), NOW)
    assert ledger.owners() == []
    ledger.pod_gone("apps", "u1")  # nor does what is left of it
    assert ledger.owners() == []


@pytest.mark.parametrize(
    ("after", "counts"),
    [(-SECOND, True), (0 * SECOND, False), (119 * SECOND, False), (120 * SECOND, True)],
)
def test_soon_after_a_kubelet_started_its_node_is_not_judged_but_a_loop_is_a_loop(
    after: timedelta, *, counts: bool
) -> None:
    ledger = Ledger()
    ledger.pod(of_pod(at=NOW + after), NOW + after)
    ledger.kubelet_started("n1", NOW)
    ledger.kubelet_started("n2", NOW + after)
    found = ledger.of("rs-1", NOW + after)
    assert bool(found.nodes) is counts
    assert len(found.times) == 1


def test_another_start_does_not_bring_back_what_came_after_the_first() -> None:
    ledger = Ledger()
    ledger.pod(of_pod(at=NOW), NOW)
    ledger.kubelet_started("n1", NOW - SECOND)
    for minutes in range(3, 20, 3):  # it starts again and again
        ledger.kubelet_started("n1", NOW + minutes * MINUTE)
        assert ledger.of("rs-1", NOW).nodes == ()


@pytest.mark.parametrize("first", ["node", "start", "pod"])
def test_the_first_start_of_a_kubelet_is_nothing_special(first: str) -> None:
    """A node that has just joined may well be where the loop begins."""
    tell = {
        "node": lambda ledger: ledger.node_made("n1", NOW - 3 * SECOND),
        "start": lambda ledger: ledger.kubelet_started("n1", NOW - 4 * SECOND),
        "pod": lambda ledger: ledger.pod(of_pod(at=NOW), NOW),
    }
    ledger = Ledger()
    tell.pop(first)(ledger)
    for one in tell.values():
        one(ledger)
    assert nodes(ledger.of("rs-1", NOW)) == [("n1", 1)]
    ledger.kubelet_started("n1", NOW + 61 * SECOND)
    ledger.pod(of_pod("u2", NOW + 62 * SECOND), NOW)
    assert nodes(ledger.of("rs-1", NOW + MINUTE)) == [("n1", 1)]


@pytest.mark.parametrize(
    "at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)], ids=["min", "max"]
)
def test_a_start_at_any_time_that_there_is_harms_nobody(at: datetime) -> None:
    """Anybody who may write Events can claim one."""
    ledger = Ledger()
    ledger.kubelet_started("n1", at)
    ledger.pod(of_pod(), NOW)
    assert ledger.owners() == ["rs-1"]


def test_evidence_is_remembered_for_an_hour() -> None:
    ledger = Ledger()
    ledger.pod(of_pod("old", NOW - MEMORY - SECOND), NOW)
    ledger.pod(of_pod("u1", NOW - MEMORY), NOW)
    assert nodes(ledger.of("rs-1", NOW)) == [("n1", 1)]
    assert ledger.of("rs-1", NOW + SECOND) == NONE
    assert len(ledger.all_of("rs-1")) == 2


def test_a_clock_that_is_ahead_makes_nothing_later_than_now() -> None:
    ledger = Ledger()
    ledger.pod(of_pod(at=NOW + MINUTE), NOW)
    found = ledger.of("rs-1", NOW)
    assert (found.newest, found.nodes[0].newest) == (NOW, NOW)


def test_a_clock_that_is_ahead_does_not_keep_a_node_excluded_until_the_others_catch_up() -> None:
    ledger = Ledger()
    for minutes in (0, 1):  # some label of it changes later
        ledger.pod(of_pod(at=NOW + 60 * MINUTE), NOW + minutes * MINUTE)
    found = ledger.of("rs-1", NOW + 5 * MINUTE)
    assert (found.newest, found.nodes[0].newest) == (NOW, NOW)


def test_what_is_written_in_another_namespace_about_a_pod_changes_nothing() -> None:
    """Uids are no secret. That the pod had been running would make its rejection count no more."""
    ledger = Ledger()
    ledger.pod(of_pod(), NOW)
    ledger.event(replace(of_event(at=NOW + MINUTE), namespace="tenant"), NOW)
    ledger.event_gone("tenant", "u1")
    ledger.pod_gone("tenant", "u1")
    assert nodes(ledger.of("rs-1", NOW)) == [("n1", 1)]


def test_what_does_not_say_when_it_happened_happened_when_it_was_first_seen() -> None:
    ledger = Ledger()
    ledger.pod(of_pod(at=None), NOW)
    ledger.pod(of_pod(at=None), NOW + MINUTE)  # some label of it changed
    assert ledger.of("rs-1", NOW + MINUTE).newest == NOW


def test_of_many_a_verdict_sees_the_newest() -> None:
    ledger = Ledger()
    for n in range(100):
        ledger.pod(of_pod(f"u{n}", NOW - n * SECOND, f"n{n % 50}"), NOW)
    found = ledger.of("rs-1", NOW)
    assert found.times == tuple(NOW - n * SECOND for n in range(MOST_TIMES))
    assert nodes(found) == [(f"n{n}", 2) for n in range(21)]  # one more than are ever excluded


# Properties.

_ats = st.integers(-4000, 60).map(lambda s: NOW + s * SECOND)
_rejections = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2", "n3"]),
        _ats,
        st.integers(0, 8),  # seconds until its Event is written
        st.sampled_from(["rs-1", "rs-2", SET]),
        st.booleans(),  # was let go before
        st.sampled_from(["pod", "event", "both", "pod gone", "both gone"]),
    ),
    max_size=8,
)
_starts = st.lists(st.tuples(st.sampled_from(["n1", "n2"]), _ats), max_size=3)
Step = tuple[object, ...]


def _steps(number: int, told: tuple[object, ...]) -> list[list[Step]]:
    """Return what happens to one pod: each list in its order, the lists in any."""
    node, at, late, owner, released, seen = told
    name = f"web-{number}" if owner == SET else f"web-6d-x{number}"
    pod = replace(of_pod(f"u{number}", at, node, owner, released=released), pod=name)  # type: ignore[arg-type]
    moment = at + late * SECOND  # type: ignore[operator]
    event = replace(pod, owner="", released=False, at=moment, clock=moment)
    pods: list[Step] = [("pod", pod)] if seen != "event" else []
    if str(seen).endswith("gone"):
        pods.append(("gone", pod.namespace, pod.uid))
    return [pods, [("event", event)] if "pod" not in str(seen) else []]


def _play(steps: list[Step]) -> dict[str, Evidence]:
    ledger = Ledger()
    take: dict[object, Callable[..., None]] = {
        "pod": lambda r: ledger.pod(r, NOW),
        "event": lambda r: ledger.event(r, NOW),
        "gone": ledger.pod_gone,
        "start": ledger.kubelet_started,
    }
    for name, *arguments in steps:
        take[name](*arguments)
    return {owner: ledger.of(owner, NOW) for owner in ledger.owners()}


@settings(max_examples=300)
@given(st.data(), _rejections, _starts)
def test_the_order_of_witnesses_does_not_matter(
    data: st.DataObject, told: list[tuple[object, ...]], starts: list[tuple[str, datetime]]
) -> None:
    """Two watches, and the lists of a process that starts, tell the same in any order."""
    lines = [line for n, one in enumerate(told) for line in _steps(n, one)]
    lines += [[("start", *start)] for start in starts]

    def shuffled() -> list[Step]:
        left, found = [list(line) for line in lines if line], []
        while left:
            line = data.draw(st.sampled_from(range(len(left))))
            found.append(left[line].pop(0))
            left = [one for one in left if one]
        return found

    assert _play(shuffled()) == _play(shuffled())


@settings(max_examples=100)
@given(_rejections)
def test_what_is_gone_leaves_nothing_behind(told: list[tuple[object, ...]]) -> None:
    ledger = Ledger()
    for number, one in enumerate(told):
        for name, what, *_ in (step for line in _steps(number, one) for step in line):
            if name != "gone":
                (ledger.pod if name == "pod" else ledger.event)(what, NOW)  # type: ignore[arg-type]
    for number in range(len(told)):
        ledger.event_gone("apps", f"u{number}")
        ledger.pod_gone("apps", f"u{number}")
    assert ledger.owners() == []
