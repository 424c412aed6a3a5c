"""How often the controller writes: a burst, then at a pace; rarely to a server that fails."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from wire.scripted import CUT, PATIENCE_S, ScriptedServer, Stream, refusal
from wire.support import FakeClock, assert_paced, client_of
from wire.writing import PATH, POD, WELL

from evencore.kube.bucket import Bucket
from evencore.kube.writer import Done, Later, Ref, Writer

if TYPE_CHECKING:
    from wire.scripted import Step

    from evencore.kube.outcome import Outcome


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(refusal(500), id="500"),
        pytest.param(refusal(503), id="503"),
        pytest.param(refusal(429), id="429"),
        pytest.param(refusal(401), id="401"),
        pytest.param(Stream((b"{",), CUT), id="cut"),
    ],
)
def test_a_loop_that_fails_asks_ever_more_slowly_however_many_want_to_write(
    server: ScriptedServer, clock: FakeClock, writer: Writer, step: Step
) -> None:
    many = [Ref("team", f"web-{n}", f"uid-{n}") for n in range(50)]
    server.brain = lambda _: step
    for _ in range(1200):  # two minutes in which all of them try ten times a second
        for pod in many:
            assert isinstance(writer.delete_pod(pod), Later)
        clock.advance(0.1)
    times = [one.at for one in server.seen]
    assert_paced(times, 8)
    assert len(times) < 15
    server.brain = lambda _: WELL
    clock.advance(15.0)
    assert {type(writer.delete_pod(pod)) for pod in many} == {Done}


def test_who_comes_back_when_told_is_not_sent_away_again(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(429, Retry_After="20"), refusal(500), WELL)
    waits = []
    while isinstance(outcome := writer.delete_pod(POD), Later):
        waits.append(outcome.seconds)
        clock.advance(outcome.seconds)
    assert waits == [20.0, 1.0]
    assert len(server.seen) == 3


def test_one_object_that_fails_does_not_hold_up_the_others_for_long(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    bad = Ref("team", "bad", "uid-bad")
    server.brain = lambda seen: refusal(500) if seen.path.endswith("bad") else WELL
    for _ in range(20):
        assert isinstance(writer.delete_pod(bad), Later)
        clock.advance(0.5)
        assert isinstance(writer.delete_pod(POD), Done)
    assert_paced([one.at for one in server.seen if one.path.endswith("bad")], 20)


def test_a_burst_of_forty_goes_at_once_and_then_twenty_a_second(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.brain = lambda _: WELL
    for _ in range(60):
        writer.delete_pod(POD)
    assert clock.waits == pytest.approx([0.05] * 20)
    assert len(server.seen) == 60


def test_many_threads_keep_the_limit_together(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    server.brain = lambda _: WELL
    client = client_of(server)
    writer = Writer(client, stop, bucket=Bucket(10.0, 5), clock=clock)
    outcomes: list[Outcome] = []
    threads = [
        threading.Thread(target=lambda: outcomes.extend(writer.delete_pod(POD) for _ in range(10)))
        for _ in range(4)
    ]
    started = clock.now()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert outcomes == [Done("uid-1", "8")] * 40
    assert clock.now() - started >= (40 - 5) / 10.0 - 1e-6
    client.close()


def test_who_waits_for_its_turn_is_let_go_by_the_stop(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client = client_of(server)
    writer = Writer(client, stop, bucket=Bucket(1.0, 1), clock=clock)
    server.script(PATH, WELL)
    writer.delete_pod(POD)
    stop.set()
    outcome = writer.delete_pod(POD)
    assert isinstance(outcome, Later)
    assert "stopping" in outcome.why
    assert len(server.seen) == 1
    client.close()


def test_nothing_is_sent_by_who_does_not_lead(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client, leads = client_of(server), [True]
    writer = Writer(client, stop, allowed=lambda: leads[0], clock=clock)
    server.script(PATH, WELL, WELL)
    assert isinstance(writer.delete_pod(POD), Done)
    leads[0] = False
    outcome = writer.delete_pod(POD)
    assert isinstance(outcome, Later)
    assert "not the leader" in outcome.why
    assert len(server.seen) == 1
    client.close()


def test_one_alone_tries_while_its_answer_is_waited_for(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(500))
    writer.delete_pod(POD)
    clock.advance(1.0)
    asked, answer, outcomes = threading.Event(), threading.Event(), []

    def slow(_: object) -> Step:
        asked.set()
        answer.wait(PATIENCE_S)
        return WELL

    server.brain = slow
    trying = threading.Thread(target=lambda: outcomes.append(writer.delete_pod(POD)))
    trying.start()
    assert asked.wait(PATIENCE_S)
    assert isinstance(writer.delete_pod(POD), Later)
    answer.set()
    trying.join(PATIENCE_S)
    assert outcomes == [Done("uid-1", "8")]
    assert isinstance(writer.delete_pod(POD), Done)
    assert len(server.seen) == 3


def test_a_mistake_of_ours_is_raised_and_does_not_keep_the_others_waiting(
    server: ScriptedServer, clock: FakeClock, writer: Writer
) -> None:
    server.script(PATH, refusal(500), WELL)
    writer.delete_pod(POD)
    clock.advance(1.0)  # the mistake comes in the one try
    with pytest.raises(TypeError):
        writer.patch_pod(POD, [{"op": "add", "path": "/x", "value": object()}])
    clock.advance(5.0)
    assert isinstance(writer.delete_pod(POD), Done)


def test_a_read_takes_no_turn_of_a_write_but_leaves_a_failing_server_alone(
    server: ScriptedServer, clock: FakeClock, stop: threading.Event
) -> None:
    client = client_of(server)
    writer = Writer(client, stop, clock=clock, bucket=Bucket(0.001, 1), random=lambda: 0.0)
    server.script(PATH, *[WELL] * 5, refusal(503), WELL)
    assert [writer.read(PATH) for _ in range(5)] == [WELL.body] * 5
    assert clock.waits == []
    assert isinstance(writer.read(PATH), Later)
    assert isinstance(writer.read(PATH), Later)
    assert isinstance(writer.delete_pod(POD), Later)
    assert len(server.seen) == 6
    clock.advance(1.0)
    assert writer.read(PATH) == WELL.body
    client.close()
