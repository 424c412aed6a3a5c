"""When held pods are let go, and how many: slowly, and when there is reason to hope."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from builders import NOW
from hypothesis import given
from hypothesis import strategies as st

from evencore.domain.evidence import NONE, Evidence, OnNode
from evencore.domain.policy import Holds
from evencore.domain.release import Flock, HeldPod, Release, hopeful, release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOLDS = Holds()


def ago(*seconds: int) -> list[datetime]:
    """Moments before now, the newest first."""
    return [NOW - each * SECOND for each in sorted(seconds)]


def herd(
    number: int = 10,
    *,
    age: timedelta = MINUTE,
    in_flight: int = 0,
    admitted: Sequence[datetime] = (),
) -> Flock:
    """Held pods p0, p1, ...: the first is the oldest, and the others a millisecond younger."""
    held = [HeldPod(NOW - age + n * timedelta(milliseconds=1), f"p{n}") for n in range(number)]
    return Flock(held, in_flight, admitted)


def rejected(*seconds: int, in_vain: Sequence[int] = ()) -> Evidence:
    """So many seconds ago; those in vain were let go before."""
    times = ago(*seconds, *in_vain)
    seen = OnNode("n1", times[0], len(times), "TopologyAffinityError")
    return Evidence((seen,), tuple(times), tuple(ago(*in_vain)))


def let(
    flock: Flock,
    evidence: Evidence = NONE,
    rooms: Mapping[str, datetime] | None = None,
    holds: Holds = HOLDS,
) -> Release:
    return release(flock, evidence, rooms or {}, NOW, holds)


def wait(found: Release) -> float:
    """Seconds until it is looked at again."""
    assert found.again is not None
    return (found.again - NOW).total_seconds()


def test_without_held_pods_there_is_nothing_to_do() -> None:
    assert let(herd(0), rejected(1)) == Release((), "no pod is held", None)


@pytest.mark.parametrize(("seconds", "gone"), [(0, ()), (9, ()), (10, ("p0",)), (600, ("p0",))])
def test_the_first_goes_ten_seconds_after_the_newest_rejection(
    seconds: int, gone: tuple[str, ...]
) -> None:
    found = let(herd(), rejected(seconds, seconds + 5))
    assert found.pods == gone
    if not gone:
        assert wait(found) == 10 - seconds
        assert found.why == "held until 10:40Z: 10s after the last rejection"
    else:
        assert found.why == "10s after the last rejection"


FAILED = {
    "one": ([40], 20),
    "two": ([40, 80], 40),
    "three": ([40, 80, 160], 80),
    "a little later is another release": ([40, 47], 40),
    "many: never more than this": ([40 * n for n in range(1, 16)], 300),
    "several let go together fail together, and count once": ([40, 41, 43, 46, 80], 40),
}


@pytest.mark.parametrize(("in_vain", "after"), FAILED.values(), ids=FAILED)
def test_the_wait_doubles_with_each_release_that_failed(in_vain: list[int], after: int) -> None:
    holds = Holds(slowest_release=5 * MINUTE)
    assert wait(let(herd(age=SECOND), rejected(0, in_vain=in_vain), holds=holds)) == after


def test_a_jobs_pod_waits_for_room_or_for_long_since_each_failure_costs_a_retry() -> None:
    pods, seen, job = herd(1, age=SECOND), rejected(60), HOLDS.of("Job")
    assert HOLDS.of("ReplicaSet") == HOLDS
    assert wait(let(pods, seen, holds=job)) == (HOLDS.slowest_release - MINUTE).total_seconds()
    assert let(pods, seen, {"n1": NOW - SECOND}, job).pods == ("p0",)


def test_a_release_that_went_well_ends_the_doubling() -> None:
    found = let(herd(admitted=ago(60)), rejected(5, in_vain=[100, 200, 300]))
    assert wait(found) == 5


ADMITTED = {
    "none yet": ([], 1),
    "the first runs": ([20], 2),
    "three run": ([20, 15, 15], 4),
    "those from before the newest rejection do not count: it starts over": ([20, 200, 300], 2),
    "nor one of the same second": ([60], 1),
}


@pytest.mark.parametrize(("admitted", "number"), ADMITTED.values(), ids=ADMITTED)
def test_one_goes_then_two_then_four(admitted: list[int], number: int) -> None:
    found = let(herd(admitted=ago(*admitted)), rejected(60))
    assert found.pods == tuple(f"p{n}" for n in range(number))
    assert found.again is not None


def test_the_last_leaves_nothing_to_come_back_for() -> None:
    assert let(herd(2, admitted=ago(5)), rejected(60)).again is None


def test_nothing_is_tried_while_a_kubelet_owes_an_answer() -> None:
    found = let(herd(in_flight=2), rejected(60))
    assert (found.pods, found.why) == ((), "2 pods let go before must start first")
    assert wait(found) == 14 * 60  # until the oldest has been held for too long


def test_where_no_rejection_is_known_any_more_there_is_no_reason_to_wait() -> None:
    found = let(herd())
    assert (found.pods, found.why) == (("p0",), "no rejection is known any more")


ROOMS = {
    "room from before the rejection is no news": ({"n1": NOW - MINUTE}, 159),
    "at least so long after the rejection": ({"n1": NOW}, 29),
    "of the newest": ({"n1": NOW - MINUTE, "n2": NOW - SECOND}, 29),
    "a clock that is ahead does not keep us": ({"n1": NOW + MINUTE}, 29),
}


@pytest.mark.parametrize(("rooms", "after"), ROOMS.values(), ids=ROOMS)
def test_room_that_appeared_brings_the_release_forward(
    rooms: dict[str, datetime], after: int
) -> None:
    found = let(herd(age=SECOND), rejected(1, in_vain=[100, 200, 300, 400]), rooms)
    assert (found.pods, wait(found)) == ((), after)


def test_room_is_the_reason_that_is_told() -> None:
    found = let(herd(), rejected(40, in_vain=[100, 200, 300]), {"n1": NOW})
    assert (found.pods, found.why) == (("p0",), "more room on n1 since 10:40Z")


def test_room_makes_no_release_later() -> None:
    assert let(herd(), rejected(10), {"n1": NOW}).pods == ("p0",)


HOPES = {
    "nothing appeared": ({}, None, {}),
    "where nobody was rejected it does not matter": ({"n9": NOW}, None, {}),
    "on a node that rejected": ({"n1": NOW}, None, {"n1": NOW}),
    "a node joined": ({}, ("n9", NOW), {"n9": NOW}),
    "the node that joined last has got room since": (
        {"n1": NOW},
        ("n1", NOW - MINUTE),
        {"n1": NOW},
    ),
    "a node that rejected is made anew": ({"n1": NOW - MINUTE}, ("n1", NOW), {"n1": NOW}),
}


@pytest.mark.parametrize(("rooms", "newcomer", "want"), HOPES.values(), ids=HOPES)
def test_where_an_owner_may_find_room(
    rooms: dict[str, datetime],
    newcomer: tuple[str, datetime] | None,
    want: dict[str, datetime],
) -> None:
    assert hopeful(rejected(1), rooms, newcomer) == want


def test_no_pod_is_held_too_long() -> None:
    """Not even where one is in flight, or the next release is far off."""
    old = [HeldPod(NOW - 16 * MINUTE, "a"), HeldPod(NOW - 15 * MINUTE, "b")]
    young = HeldPod(NOW - 14 * MINUTE, "c")
    found = let(Flock([*old, young], in_flight=1), rejected(0))
    assert found == Release(
        ("a", "b"), "held for 15m, longer than that no pod is held", NOW + MINUTE, forced=True
    )


_seconds = st.lists(st.integers(0, 4000), max_size=20)
_flocks = st.builds(
    lambda number, age, in_flight, admitted: herd(
        number, age=age * SECOND, in_flight=in_flight, admitted=ago(*admitted)
    ),
    st.integers(0, 20),
    st.integers(0, 1200),
    st.integers(0, 2),
    _seconds,
)


@given(_flocks, _seconds, st.sampled_from([{}, {"n1": NOW}]))
def test_whatever_is_known_a_release_is_sound(
    flock: Flock, times: list[int], rooms: dict[str, datetime]
) -> None:
    evidence = rejected(*times, in_vain=times[::2]) if times else NONE
    found = let(flock, evidence, rooms)
    held = [pod.uid for pod in flock.held]
    assert list(found.pods) == held[: len(found.pods)]  # the oldest first, none twice
    left = flock.held[len(found.pods) :]
    if left:  # nobody is forgotten
        assert found.again is not None
        assert found.again > NOW or found.pods
        assert found.again <= left[0].created + HOLDS.longest
    too_long = bool(held) and NOW - flock.held[0].created >= HOLDS.longest
    assert found.forced is too_long
    assert found.why
