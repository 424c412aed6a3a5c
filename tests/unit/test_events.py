"""What an Event says, in both shapes and with whatever is null in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evencore.domain.event_views import EventView
from evencore.domain.events import Told, kubelet_start_in, rejection_in, told
from evencore.domain.lenient import read
from evencore.domain.rejection import Kind, read_time

CASE = yaml.safe_load((Path(__file__).parent.parent / "cases/40-event-shapes.yaml").read_text())
SHAPES = {one["id"]: one["object"] for one in CASE["input"]["events"]}


def say(obj: object) -> Told | None:
    return told(read(EventView, obj)[0])


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "broken"])
def test_every_shape_says_the_same_things(shape: str) -> None:
    said = say(SHAPES[shape])
    assert said is not None
    reason, namespace, name, uid, node, last_seen, times = CASE["expect"]["normalised"][shape]
    assert (said.reason, said.namespace, said.name, said.uid) == (reason, namespace, name, uid)
    assert (said.node, said.at, said.times) == (node, read_time(last_seen), times)


def test_what_does_not_say_what_it_is_about_is_passed_over() -> None:
    assert say(SHAPES["broken"]) is None


@pytest.mark.parametrize("value", [None, [], {}, {"involvedObject": {"uid": 3}}, {"count": {}}])
def test_nothing_is_raised(value: object) -> None:
    assert say(value) is None


def event(**changes: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
    return {**SHAPES["classic"], **changes}


def test_an_event_of_a_kubelet_tells_of_a_rejection_but_not_of_the_owner() -> None:
    said = say(event(reason="SMTAlignmentError", message="CPUs per core = 4"))
    assert said is not None
    found = rejection_in(said)
    assert found is not None
    assert (found.uid, found.owner, found.node) == ("u1", "", "n1")
    assert (found.namespace, found.pod) == ("apps", "p1")
    assert (found.kind, found.width) == (Kind.NO_FREE_CORES, 4)
    assert found.at == read_time("2026-01-01T10:00:05Z")


NO_REJECTIONS = {
    "of another reason": event(reason="Killing"),
    "told by somebody else": event(source={"component": "default-scheduler", "host": "n1"}),
    "told by nobody": SHAPES["all-null"],
    "of no node": event(source={"component": "kubelet"}),
    "about another kind": event(involvedObject={"kind": "Node", "name": "n1", "uid": "n1"}),
}


@pytest.mark.parametrize("obj", NO_REJECTIONS.values(), ids=NO_REJECTIONS)
def test_other_events_tell_of_no_rejection(obj: object) -> None:
    said = say(obj)
    assert said is not None
    assert rejection_in(said) is None


NODE = {"kind": "Node", "name": "n1", "uid": "n1"}
STARTING = event(
    reason="Starting",
    involvedObject=NODE,
    message="Starting kubelet.",
    metadata=SHAPES["classic"]["metadata"] | {"namespace": "default"},
)
STARTS = {
    "of a kubelet": (STARTING, ("n1", read_time("2026-01-01T10:00:05Z"))),
    "of kube-proxy, in the same words": ({**STARTING, "source": {"component": "kube-proxy"}}, None),
    "of something on a pod": ({**STARTING, "involvedObject": {"kind": "Pod", "uid": "u"}}, None),
    "of nothing: another reason": ({**STARTING, "reason": "NodeReady"}, None),
    "without a time": (
        {**STARTING, "lastTimestamp": None, "metadata": {"namespace": "default"}},
        None,
    ),
    "told where a tenant may write Events": (
        {**STARTING, "metadata": {"namespace": "tenant"}, "involvedObject": NODE},
        None,
    ),
}


@pytest.mark.parametrize(("obj", "want"), STARTS.values(), ids=STARTS)
def test_a_start(obj: object, want: object) -> None:
    said = say(obj)
    assert said is not None
    assert kubelet_start_in(said) == want
