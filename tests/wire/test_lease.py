"""Leader election on the wire: through every kind of failure, until its own deadline."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from wire.leases import LEASE, Contest, LeaseServer, Turns
from wire.scripted import CUT, PATIENCE_S, Answer, Mute, ScriptedServer, Stream, refusal
from wire.support import assert_paced, client_of

from evencore.kube.clock import SystemClock
from evencore.kube.election import Timing
from evencore.kube.lease import Elector

if TYPE_CHECKING:
    from wire.scripted import Seen, Step

OTHER: dict[str, Any] = {
    "holderIdentity": "other",
    "leaseDurationSeconds": 15,
    "acquireTime": "2026-01-01T00:00:00.000000Z",
    "renewTime": "2026-01-01T00:00:00.000000Z",
    "leaseTransitions": 3,
}


def nothing() -> None:
    """Let a turn pass."""


@pytest.fixture
def lease(server: ScriptedServer) -> LeaseServer:
    server.brain = brain = LeaseServer()
    return brain


def _bodies(server: ScriptedServer) -> list[tuple[str, dict[str, Any]]]:
    return [(one.verb, json.loads(one.body)) for one in server.seen if one.body]


def test_who_is_alone_makes_the_lease_renews_it_and_gives_it_back(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    led: list[bool] = []
    clock = Turns(*[lambda: led.append(contest.elector.leads())] * 3)
    contest = Contest(server, clock)
    contest.run()
    assert led == [True] * 3
    assert contest.lost == []
    assert contest.elector.elected.is_set()
    assert not contest.elector.leads()
    made, *renewals, last = _bodies(server)
    assert made[0] == "POST"
    assert made[1]["metadata"] == {"name": LEASE.name, "namespace": LEASE.namespace}
    assert made[1]["spec"]["holderIdentity"] == "me"
    assert made[1]["spec"]["leaseDurationSeconds"] == 15
    assert [verb for verb, _ in renewals] == ["PATCH"] * 3
    assert [body["metadata"] for _, body in renewals] == [
        {"resourceVersion": version} for version in ("1", "2", "3")
    ]
    assert {body["spec"]["acquireTime"] for _, body in renewals} == {made[1]["spec"]["acquireTime"]}
    assert last[1]["spec"]["holderIdentity"] == ""
    assert last[1]["spec"]["leaseDurationSeconds"] == 1
    assert lease.spec is not None
    assert lease.spec["leaseTransitions"] == 0
    # One read at first; then a leader writes on what it wrote.
    assert [one.verb for one in server.seen].count("GET") == 1
    assert clock.waits == [2.0] * 4


def test_who_comes_second_waits_for_the_whole_duration_however_old_the_lease_says_it_is(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    lease.set(**OTHER)
    clock = Turns(*[nothing] * 8)
    contest = Contest(server, clock)
    contest.run()
    assert [body["spec"]["leaseTransitions"] for _, body in _bodies(server)] == [4, 4]
    took, _ = [one for one in server.seen if one.body]
    assert took.at - server.seen[0].at == 16.0  # the first try after 15 s
    assert not contest.lost


def test_who_comes_second_takes_over_at_its_next_try_when_the_lease_is_given_back(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    lease.set(**OTHER)
    contest = Contest(server, Turns(nothing, lambda: lease.set(holderIdentity=""), nothing))
    contest.run()
    first = next(one for one in server.seen if one.body)
    assert first.at - server.seen[0].at == 4.0
    assert contest.elector.elected.is_set()


BAD = [
    pytest.param(refusal(500), id="500"),
    pytest.param(refusal(503, Retry_After="60"), id="503 with patience asked for"),
    pytest.param(refusal(429, Retry_After="60"), id="429 with patience asked for"),
    pytest.param(refusal(401), id="401"),
    pytest.param(refusal(403), id="403"),
    pytest.param(refusal(409), id="409"),
    pytest.param(Stream((b'{"metadata":',), CUT), id="cut"),
    pytest.param(Answer(200, b"<html>"), id="a proxy's page"),
    pytest.param(Answer(200, b'{"metadata":{},"spec":{"leaseTransitions":"x"}}'), id="odd"),
]


@pytest.mark.parametrize("step", BAD)
def test_a_leader_gets_over_nine_seconds_of_anything(
    server: ScriptedServer, lease: LeaseServer, step: Step
) -> None:
    contest = Contest(server, Turns(lambda: lease.bad.extend([step] * 4), *[nothing] * 9))
    contest.run()
    assert contest.lost == []
    assert not lease.bad
    assert_paced([one.at for one in server.seen][1:-1], 10)


@pytest.mark.parametrize("step", BAD)
def test_a_leader_has_lost_ten_seconds_after_what_went_through_last(
    server: ScriptedServer, lease: LeaseServer, step: Step
) -> None:
    clock = Turns(nothing, lambda: lease.bad.extend([step] * 99), *[nothing] * 99)
    contest = Contest(server, clock)
    contest.run()
    assert [when for when, _ in contest.lost] == [1012.0]  # renewed at 1002
    assert "could not be renewed for 10 s" in contest.lost[0][1]
    assert not contest.elector.leads()
    # Nothing is given back that is not known to be ours.
    assert all(body["spec"]["holderIdentity"] == "me" for _, body in _bodies(server))


def test_an_answer_that_was_lost_changes_nothing(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    lease.loses_answers = 1
    contest = Contest(
        server, Turns(nothing, lambda: setattr(lease, "loses_answers", 2), *[nothing] * 6)
    )
    contest.run()
    assert contest.lost == []
    assert contest.elector.elected.is_set()
    assert lease.spec is not None
    assert lease.spec["leaseTransitions"] == 0
    assert lease.spec["holderIdentity"] == ""


def test_a_leader_that_finds_another_holder_has_lost_at_once_and_writes_nothing_more(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    contest = Contest(server, Turns(nothing, lambda: lease.set(**OTHER), *[nothing] * 9))
    contest.run()
    assert [why for _, why in contest.lost] == ["the lease is held by other"]
    assert lease.spec == OTHER
    assert [one.verb for one in server.seen] == ["GET", "POST", "PATCH", "PATCH", "GET"]


def test_of_two_that_want_a_free_lease_the_one_whose_version_is_old_waits(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    lease.set(**{**OTHER, "holderIdentity": ""})
    taken = json.dumps({"metadata": {"resourceVersion": "0"}, "spec": lease.spec}).encode()
    lease.bad.append(Answer(body=taken))  # what it read a moment before the other one wrote
    lease.set(**OTHER)
    contest = Contest(server, Turns(nothing))
    contest.run()
    assert contest.elector.holder == "other"
    assert not contest.elector.elected.is_set()


def test_the_others_ask_as_rarely_as_the_server_wants(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    lease.set(**OTHER)
    lease.bad.extend([refusal(429, Retry_After="9"), refusal(503, Retry_After="3600")])
    clock = Turns(nothing, nothing)
    Contest(server, clock).run()
    assert clock.waits == [9.0, 15.0, 2.0]


def test_a_change_of_others_does_not_keep_the_lease_from_being_given_back(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    stop = threading.Event()

    def change_and_stop() -> None:
        lease.set()
        stop.set()

    contest = Contest(server, Turns(nothing, change_and_stop))
    contest.elector.run(stop)
    contest.client.close()
    assert contest.lost == []
    assert lease.spec is not None
    assert lease.spec["holderIdentity"] == ""


def test_a_lease_that_another_one_took_is_not_given_back(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    stop = threading.Event()

    def take_and_stop() -> None:
        lease.set(**OTHER)
        stop.set()

    contest = Contest(server, Turns(nothing, take_and_stop))
    contest.elector.run(stop)
    contest.client.close()
    assert lease.spec == OTHER


def test_a_lease_that_cannot_be_given_back_is_no_reason_not_to_stop(
    server: ScriptedServer, lease: LeaseServer, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses_the_last(seen: Seen) -> Step:
        gives_back = seen.body and not json.loads(seen.body)["spec"]["holderIdentity"]
        return refusal(500) if gives_back else lease(seen)

    server.brain = refuses_the_last
    contest = Contest(server, Turns(nothing))
    contest.run()
    assert "could not be given back" in caplog.text
    assert contest.lost == []
    assert not contest.elector.leads()


def test_what_fails_in_the_same_way_is_said_once(
    server: ScriptedServer, lease: LeaseServer, caplog: pytest.LogCaptureFixture
) -> None:
    lease.bad.extend([refusal(503)] * 9)
    Contest(server, Turns(*[nothing] * 9)).run()
    assert caplog.text.count("could not be read or written") == 1


def test_a_server_that_goes_away_and_comes_back_is_found_again() -> None:
    clock = Turns()
    with ScriptedServer(clock.now) as first:
        first.brain = LeaseServer()
        contest, port = Contest(first, clock), first.port
    # Nobody listens there now.
    contest.elector.run(threading.Event())
    assert contest.elector.holder == ""
    with ScriptedServer(clock.now, port=port) as second:  # the same address, another process
        second.brain = LeaseServer()
        contest.elector.run(threading.Event())
        assert [one.verb for one in second.seen] == ["GET", "POST", "PATCH"]
    contest.client.close()


def test_a_server_that_says_nothing_any_more_is_no_reason_to_lead_on(
    server: ScriptedServer, lease: LeaseServer
) -> None:
    over, told = threading.Event(), []
    client = client_of(server)
    elector = Elector(
        client,
        LEASE,
        "me",
        lambda why: (told.append(why), over.set()),
        timing=Timing(1.0, 0.4, 0.02),
        clock=SystemClock(),
    )
    thread = threading.Thread(target=elector.run, args=(threading.Event(),))
    thread.start()
    assert elector.elected.wait(PATIENCE_S)
    lease.bad.extend([Mute()] * 99)
    assert over.wait(PATIENCE_S)
    thread.join(PATIENCE_S)
    assert not elector.leads()
    assert len(told) == 1
    client.close()


def test_it_does_not_lead_past_its_deadline_though_its_thread_hangs(
    server: ScriptedServer,
) -> None:
    server.brain = LeaseServer()
    hangs, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        go_on.wait(PATIENCE_S)

    turns = Turns(hang)
    contest = Contest(server, turns)
    thread = threading.Thread(target=contest.run)
    thread.start()
    assert hangs.wait(PATIENCE_S)
    turns.advance(7.9)  # it has waited for two seconds already
    assert contest.elector.leads()
    turns.advance(0.2)
    assert not contest.elector.leads()
    go_on.set()
    thread.join(PATIENCE_S)
    assert len(contest.lost) == 1


def test_a_mistake_of_ours_does_not_end_the_thread_before_the_lease_is_lost(
    server: ScriptedServer, lease: LeaseServer, caplog: pytest.LogCaptureFixture
) -> None:
    times = iter([datetime.now(UTC)])  # one answer, then StopIteration
    contest = Contest(server, Turns(*[nothing] * 99), wall=lambda: next(times))
    contest.run()
    assert [when for when, _ in contest.lost] == [1010.0]
    assert "this is a bug" in caplog.text
    assert lease.spec is not None
    assert lease.spec["holderIdentity"] == "me"
