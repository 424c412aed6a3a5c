"""Faults as people write them: what is refused, which request is hit, how often."""

from __future__ import annotations

from typing import Any

import pytest

from evencore.strict import FileError, checked
from simulator.chance import Chance
from simulator.faults import Asker, Fault, Switch

WATCH = Asker("evencore/1", "system:serviceaccount:ns:bot", "watch", "/api/v1/pods")
PATCH = Asker("kubectl/1", "ann", "patch", "/api/v1/namespaces/ns/pods/p")

MISTAKES = {
    "no action": ({}, "action: is missing"),
    "an action that is not there": ({"action": "explode"}, "action: must be 'drop', 'lose'"),
    "an unknown key": ({"action": "drop", "agent": "x"}, "agent: unknown; allowed here: action, "),
    "an error without its code": ({"action": "error"}, "code belongs to the action error"),
    "a code without an error": ({"action": "drop", "code": 500}, "code belongs to"),
    "a code that is no fault": ({"action": "error", "code": 404}, "code: must be 429, 500"),
    "a delay of nothing": ({"action": "delay"}, "a delay needs afterSeconds"),
    "an error later": (
        {"action": "error", "code": 503, "afterSeconds": 1},
        "afterSeconds belongs to delay and disconnect, not to error",
    ),
    "a drop to be tried again later": (
        {"action": "drop", "retryAfterSeconds": 1},
        "retryAfterSeconds belongs to the action error, not to drop",
    ),
    "never": ({"action": "drop", "probability": 0}, "probability: must be greater than 0"),
    "no times": ({"action": "drop", "times": 0}, "times: must be greater than 0"),
}


@pytest.mark.parametrize(("given", "want"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told_with_their_place(given: dict[str, Any], want: str) -> None:
    with pytest.raises(FileError) as caught:
        checked(Fault, given, "scenario.yaml")
    assert f"scenario.yaml: {want}" in str(caught.value)


def test_a_file_says_it_in_camel_case() -> None:
    given = {"action": "error", "code": 429, "retryAfterSeconds": 3, "verbs": ["list"]}
    want = Fault(action="error", code=429, retry_after_seconds=3, verbs=("list",))
    assert checked(Fault, given, "scenario.yaml") == want


SPEAKS = {
    "of everything": (Fault(action="drop"), PATCH, True),
    "of an agent": (Fault(action="drop", client="kubectl/*"), PATCH, True),
    "of a user": (Fault(action="drop", client="*:bot"), WATCH, True),
    "of another client": (Fault(action="drop", client="*:bot"), PATCH, False),
    "of a verb": (Fault(action="drop", verbs=("get", "watch")), WATCH, True),
    "of another verb": (Fault(action="drop", verbs=("get",)), WATCH, False),
    "of a path": (Fault(action="drop", path="*/pods/*"), PATCH, True),
    "of another path": (Fault(action="drop", path="*/pods/*"), WATCH, False),
    "only watches are disconnected": (Fault(action="disconnect"), PATCH, False),
    "only changes conflict": (Fault(action="conflict"), WATCH, False),
    "and all of them": (Fault(action="conflict"), PATCH, True),
}


@pytest.mark.parametrize(("fault", "asker", "want"), SPEAKS.values(), ids=SPEAKS)
def test_which_requests_a_fault_speaks_of(fault: Fault, asker: Asker, want: bool) -> None:  # noqa: FBT001  a column
    assert fault.speaks_of(asker) is want


def test_a_fault_for_some_times_is_over_then() -> None:
    switch = Switch(Fault(action="drop", times=2, verbs=("patch",)), Chance(1).stream("t"))
    hits = [switch.hit(one) for one in (PATCH, WATCH, PATCH, PATCH)]
    assert hits == [True, False, True, False]
    assert (switch.hits, switch.is_on) == (2, False)


def test_the_same_seed_hits_the_same_requests() -> None:
    def run(seed: int) -> list[bool]:
        switch = Switch(Fault(action="drop", probability=0.25), Chance(seed).stream("t"))
        return [switch.hit(PATCH) for _ in range(400)]

    assert run(1) == run(1) != run(2)
    assert 70 <= sum(run(1)) <= 130
