"""Whatever happens inside, a pod is let in: the answer, and what the log is told of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import pytest
from admission import admit, check_envelope, post
from builders import NOW, UID, container, failed, pod, review, snapshot

from evencore.domain.policy import Policy
from evencore.domain.snapshot import Snapshot
from webhook.mutate import Mutator

if TYPE_CHECKING:
    from webhook.mutate import Outcome

BODY = review(pod().cpu("3")).body


class BrokenError(Exception):
    """Something of ours that fails."""


def fails(*_: object) -> NoReturn:
    raise BrokenError


@pytest.mark.parametrize(
    ("snapshot_of", "clock"),
    [
        pytest.param(fails, lambda: NOW, id="the snapshot"),
        pytest.param(Snapshot, fails, id="the clock"),
        pytest.param(lambda: None, lambda: NOW, id="something that is no snapshot"),
    ],
)
def test_a_failure_inside_lets_the_pod_in_unchanged(snapshot_of: object, clock: object) -> None:
    outcomes: list[Outcome] = []
    mutator = Mutator(Policy(), snapshot_of, clock, lambda o, _: outcomes.append(o))
    status, body = mutator(BODY)
    assert status == 200
    answer = json.loads(body)
    check_envelope(answer, UID)
    assert answer["response"]["allowed"]
    assert "patch" not in answer["response"]
    assert answer["response"]["warnings"] == [
        "evencore failed inside and left this pod unchanged; its log says more"
    ]
    assert [o.result for o in outcomes] == ["failed"]
    assert outcomes[0].error is not None


def test_an_observer_that_fails_does_not_stop_the_answer() -> None:
    status, body = Mutator(Policy(), Snapshot, lambda: NOW, fails)(BODY)
    assert status == 200
    assert "patch" in json.loads(body)["response"]


def test_the_snapshot_is_asked_for_once_and_only_for_pods_being_created() -> None:
    asked: list[int] = []

    def known() -> Snapshot:
        asked.append(1)
        return Snapshot()

    mutator = Mutator(Policy(), known, lambda: NOW)
    mutator(BODY)
    assert len(asked) == 1
    mutator(review(pod()).with_(operation="UPDATE").body)
    mutator(b"")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("body", "want"),
    [
        pytest.param(BODY, "patched", id="patched"),
        pytest.param(review(pod()).body, "unchanged", id="unchanged"),
        pytest.param(
            review(pod().cpu("3").annotate("evencore.io/cpu", "deny")).body, "denied", id="denied"
        ),
        pytest.param(review(pod()).with_(operation="DELETE").body, "passed", id="passed"),
        pytest.param(review(pod().spec(nodeName=1)).body, "unreadable", id="unreadable"),
        pytest.param(b"{}", "refused", id="refused"),
    ],
)
def test_each_outcome_has_its_name(body: bytes, want: str) -> None:
    assert post(body)[2].result == want


def test_an_outcome_carries_request_and_decision_for_the_log() -> None:
    _, _, outcome = post(BODY)
    assert outcome.request is not None
    assert (outcome.request.uid, outcome.request.namespace) == (UID, "apps")
    assert outcome.decision is not None
    assert len(outcome.decision.changes) == 1


def test_a_pod_that_is_read_only_in_part_is_left_alone_and_its_author_told() -> None:
    answer = admit(pod().cpu("3").spec(nodeName=1))
    assert answer.patch == []
    assert answer.warnings == ["evencore left this pod unchanged: object.spec.nodeName is not text"]


def test_the_namespace_of_the_request_goes_before_that_of_the_object() -> None:
    sent = review(pod().cpu("3").metadata(namespace="kube-system"))
    assert admit(sent).patch
    assert admit(sent.with_(namespace="")).patch == []


def test_more_warnings_than_are_shown_are_counted() -> None:
    many = pod().containers(*(container(f"c{number}", cpu="3") for number in range(9)))
    warnings = admit(many).warnings
    assert len(warnings) == 4
    assert warnings[-1] == "evencore: 6 more warnings, see its log"


def test_the_clock_is_that_of_the_caller() -> None:
    known = snapshot(failed("n1"))
    assert admit(pod().owner(), known, now=NOW).required is not None
    assert admit(pod().owner(), known, now=NOW.replace(hour=12)).required is None
