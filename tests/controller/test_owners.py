"""One owner as a whole: what is done, for whom, and when it is looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from controller_parts import (
    CUSTOM,
    NOW,
    admitted,
    ago,
    failed,
    held,
    kept_off,
    live_pod,
    pod,
    rejected,
    snapshot,
)

from controller.cleaner import Cleaned
from controller.expectations import Expectations
from controller.limbo import LIMBO_S
from controller.owners import FORCED_AT_A_TIME, LONGEST_S, Hands, OwnerReconciler
from controller.state import Newcomer, Owner, State, owner_and_key
from evencore.domain import names
from evencore.domain.decision import Decision
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.cleaner import Cleaner
    from controller.releaser import Releaser
    from controller.replacer import Replacer
    from controller.state import Rejected
    from controller.teller import Teller
    from controller.views import LivePod
    from evencore.domain.release import Release

Object = dict[str, Any]
DAEMONS = ("apps/v1", "DaemonSet", "agent", "ds-1")


class Desk:
    """An OwnerReconciler whose hands note what they are asked for."""

    def __init__(self, *objects: Object, labels: Object | None = None) -> None:
        gone = [obj for obj in objects if obj["status"].get("phase") == "Failed"]
        self.state, self.expectations = State(), Expectations()
        self.keys = set[str]()
        for obj in objects:
            if obj not in gone:
                seen = live_pod(obj)
                key = owner_and_key(seen)[1]
                self.keys.add(key)
                self.state.steered.put(key, seen.metadata.uid, seen)
        for one in rejected(*gone).values():
            self.keys.add(one.rejection.owner)
            self.state.rejected.put(one.rejection.owner, one.rejection.uid, one)
        self.snapshot = snapshot(*gone, labels=labels)
        self.done: list[str] = []
        self.untouchable: set[str] = set()
        self.answer: Decision | float | None = Decision(sentences=("let go",))
        hands = Hands(
            cast("Releaser", self), cast("Replacer", self), cast("Cleaner", self),
            cast("Teller", self),
        )  # fmt: skip
        self.owners = OwnerReconciler(
            self.state, lambda: self.snapshot, Policy(), hands, self.expectations, lambda: NOW
        )

    def reconcile(self) -> float | None:
        (key,) = self.keys
        return self.owners.reconcile(key)

    def let_go(self, pod: LivePod, release: Release) -> Decision | float | None:
        self.done.append(f"let go {pod.metadata.name}{' forced' if release.forced else ''}")
        return self.answer

    def refused(self, uid: str) -> bool:
        return uid in self.untouchable

    def replace(self, owner: Owner, *_: object) -> None:
        self.done.append(f"replace of {owner.kind}")

    def clean(self, pods: Mapping[str, Rejected], *_: object) -> Cleaned:
        self.done.append(f"clean {len(pods)}")
        return Cleaned(1, 1.0)

    def released(self, _: Owner, pod: LivePod, text: str) -> None:
        self.done.append(f"told of {pod.metadata.name}: {text}")

    def rejections(self, *_: object) -> bool:
        self.done.append("told rejections")
        return False

    def exclusions(self, *_: object) -> None:
        self.done.append("told exclusions")

    def holds(self, *_: object) -> None:
        """Say nothing."""

    def deleted(self, _: Owner, number: int, left: int) -> None:
        self.done.append(f"told {number} deleted, {left} left")


REJECTIONS = [failed(pod(f"r{n}"), at=ago(60 + n)) for n in range(3)]
TOLD = ["told rejections", "told exclusions"]
CLEAN = ["clean 3", "told 1 deleted, 2 left"]


def test_a_held_pod_is_let_go_before_anything_else_is_done() -> None:
    desk = Desk(*REJECTIONS, held("a"))
    desk.reconcile()
    assert desk.done == ["let go a", "told of a: let go", *TOLD, *CLEAN]


@pytest.mark.parametrize(
    ("objects", "labels", "done", "again"),
    [
        pytest.param(
            [failed(pod(at_once), at=NOW) for at_once in "ab"] + [held("c")],
            None,
            [*TOLD, "clean 2", "told 1 deleted, 1 left"],
            1.0,
            id="too early to let go",
        ),
        pytest.param(
            [*REJECTIONS, held("a")], {}, ["let go a", "told of a: let go"], LONGEST_S,
            id="its namespace takes no part any more: a held pod is let go all the same",
        ),
        pytest.param(
            [held("a", owner=None)], None,
            ["let go a", "told of a: let go", *TOLD], LONGEST_S, id="its owner is gone",
        ),
        pytest.param(
            [admitted(pod(steering=names.RELEASED), "n1")], None, TOLD, None,
            id="all run: nothing is left to wait for",
        ),
        pytest.param(
            [kept_off(pod(steering=names.EXCLUDED), "n1")], None,
            [*TOLD, "replace of ReplicaSet"], LONGEST_S, id="one waits",
        ),
        pytest.param(
            [failed(pod(owner=CUSTOM), at=ago(60))], None, TOLD, None,
            id="an owner of another kind: nothing is deleted",
        ),
        pytest.param(
            [failed(pod(owner=DAEMONS), at=ago(60))], None, TOLD[:1], None,
            id="a DaemonSet: it is kept off no node, so that is not said",
        ),
        pytest.param(
            [failed(pod(annotations={names.ON_REJECTION: "report"}), at=ago(60))], None,
            [*TOLD[:1], "clean 1", "told 1 deleted, 0 left"], 1.0, id="report only",
        ),
    ],
)  # fmt: skip
def test_what_is_done(
    objects: list[Object], labels: Object | None, done: list[str], again: float | None
) -> None:
    desk = Desk(*objects, labels=labels)
    assert desk.reconcile() == again
    assert desk.done == done


def test_an_owner_of_whom_nothing_is_known_is_forgotten() -> None:
    assert Desk().owners.reconcile("shop/rs-1") is None


def test_what_was_let_go_just_now_is_not_let_go_again() -> None:
    desk = Desk(*REJECTIONS, held("a"))
    desk.expectations.expect("uid-a")
    desk.reconcile()
    assert "let go a" not in desk.done


def test_nothing_is_tried_while_the_last_try_is_out_of_sight() -> None:
    desk = Desk(held("a"))
    desk.state.limbo.put("shop/rs-1", "shop", "lost")
    assert desk.reconcile() == LIMBO_S
    assert "let go a" not in desk.done


def test_a_server_that_fails_is_asked_later_and_the_rest_is_done_all_the_same() -> None:
    desk = Desk(*REJECTIONS, held("a"), held("b"))
    desk.answer = 0.5
    assert desk.reconcile() == 0.5
    assert desk.done == ["let go a", *TOLD, *CLEAN]


def test_of_many_that_were_held_too_long_others_get_their_turn_between() -> None:
    desk = Desk(*(held(f"p{n:02d}", made=ago(3600)) for n in range(50)))
    assert desk.reconcile() == 0.0
    assert len([done for done in desk.done if done.endswith(" forced")]) == FORCED_AT_A_TIME


def test_a_pod_that_the_api_server_does_not_let_go_keeps_no_other_waiting() -> None:
    desk = Desk(*REJECTIONS, held("a", made=ago(9)), held("b"))
    desk.untouchable = {"uid-a"}
    desk.reconcile()
    assert desk.done[0] == "let go b"


def test_a_pod_that_is_held_by_others_as_well_is_looked_at_when_it_was_held_too_long() -> None:
    gates = [names.HOLD, "example.io/quota"]
    young, old = (pod(steering=names.HELD, gates=gates, made=ago(s)) for s in (850, 900))
    desk = Desk(young)
    assert (desk.reconcile(), desk.done) == (50.0, TOLD)
    desk = Desk(old)
    desk.reconcile()
    assert desk.done[0] == "let go web-6d-a forced"


def test_a_node_that_joined_since_is_a_reason_to_hope() -> None:
    old = [failed(pod(f"r{n}", steering=names.RELEASED), at=ago(31 + 60 * n)) for n in range(9)]
    waiting, hoping = Desk(*old, held("a")), Desk(*old, held("a"))
    hoping.state.newcomer = Newcomer("n9", ago(5))
    waiting.reconcile()
    hoping.reconcile()
    assert "let go a" not in waiting.done
    assert "let go a" in hoping.done
