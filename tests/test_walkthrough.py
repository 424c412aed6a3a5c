"""docs/walkthrough.md is true: its functions are there, and its sentences and patch are ours."""

from __future__ import annotations

import ast
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import apiserver
import pytest
from builders import NOW, Pod, failed, node, pod, snapshot

from evencore.domain.decision import Decision, decide, let_go
from evencore.domain.patching import operations
from evencore.domain.placement import Case
from evencore.domain.policy import Policy
from evencore.domain.release import Flock, HeldPod, release
from evencore.domain.views import PodSpec

if TYPE_CHECKING:
    from evencore.domain.snapshot import Snapshot

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "walkthrough.md").read_text()
PLACES = sorted(set(re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE)))
KUBELETS = [node("autokh-1").named().largest(24, 46), node("autokh-2").named().largest(24, 46)]


def decided(made: Pod, known: Snapshot) -> Decision:
    return decide(made.view, "default", Policy(), known, NOW)


def rejected(on: str, number: int, ago_s: int, *, released: bool = False) -> Pod:
    made = failed(on, number=number).metadata(namespace="default")
    made.rejected(on, ago=timedelta(seconds=ago_s))
    return made.label("evencore.io/steering", "released") if released else made


def let_go_now(made: Pod, known: Snapshot) -> Decision:
    """Let a pod go as the controller does when it is due."""
    spec = made.view.spec or PodSpec()
    evidence = known.evidence.of("default/rs-1", NOW)
    held = Flock(held=[HeldPod(NOW - timedelta(seconds=20), "uid")])
    plan = release(held, evidence, known.rooms, NOW, Policy().holds)
    assert plan.pods, plan.why
    case = Case(made.view, spec, "default", Policy(), known, NOW)
    return let_go(case, plan.why, forced=plan.forced)


def timeless(text: str) -> str:
    return re.sub(r"\d\d:\d\dZ", "…", text)


FIRST = pod("web").owner().cpu("15")
AT_FIRST = snapshot(*KUBELETS)
TWICE = [rejected("autokh-1", 1, 10), rejected("autokh-2", 2, 10)]
HELD = decided(FIRST, snapshot(*KUBELETS, *TWICE))
GATED = pod("web").owner().cpu("16").spec(schedulingGates=[{"name": "evencore.io/hold"}])
TRIED = let_go_now(GATED, snapshot(*KUBELETS, *TWICE))
ROOMY = node("autokh-1").named().largest(24, 46)
ROOMY.annotate("evencore.io/room-since", (NOW - timedelta(seconds=5)).isoformat())
THRICE = [rejected("autokh-1", 1, 30), rejected("autokh-2", 2, 30)]
GONE = let_go_now(
    GATED, snapshot(ROOMY, KUBELETS[1], *THRICE, rejected("autokh-2", 3, 20, released=True))
)


@pytest.mark.parametrize(("file", "name"), PLACES, ids=map(": ".join, PLACES))
def test_every_function_is_where_it_is_said_to_be(file: str, name: str) -> None:
    body: list[ast.stmt] = ast.parse((ROOT / file).read_text()).body
    for part in name.split("."):
        [body] = [
            one.body
            for one in body
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and one.name == part
        ]


def test_it_names_many_functions() -> None:
    assert len(PLACES) > 25


def test_the_patch_is_the_one_that_is_shown() -> None:
    [shown] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    patch = operations(FIRST.view, decided(FIRST, AT_FIRST))
    assert json.loads(shown) == patch
    assert (
        apiserver.apply(FIRST.obj, patch)["spec"]["containers"][0]["resources"]["limits"]["cpu"]
        == "16"
    )


@pytest.mark.parametrize(
    ("decision", "steering", "before"),
    [(HELD, "held", ()), (GONE, "released", HELD.sentences)],
    ids=["held", "let go where there is room"],
)
def test_the_sentences_on_the_pods_are_ours(
    decision: Decision, steering: str, before: tuple[str, ...]
) -> None:
    assert decision.steering == steering
    wanted = "; ".join((*before, *decision.sentences))
    told = re.findall(rf"steering: {steering}\n.*?evencore\.io/decision: ([^\n]+)", PAGE, re.DOTALL)
    assert [timeless(text) for text in told] == [timeless(wanted)]


def test_the_event_of_the_trial_is_ours() -> None:
    told = re.findall(r"PodReleased +pod/\S+ +([^\n]+)", PAGE)
    assert [timeless(text) for text in told] == [timeless("; ".join(TRIED.sentences))]
