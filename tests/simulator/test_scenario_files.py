"""Scenario files: strict, and everything that is wrong is told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evencore.strict import FileError
from simulator.scenario.reading import load, scenario
from simulator.scenario.values import Range

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIME = "must be a time with its unit, such as 30s, 2m or 1h30m"
RANGE = "must be a number or a range: 10, 500-700, or 500+ for at least 500"
CLOCK = "must be virtual, real, or how many times as fast as real time, such as 5"
ADDRESS = "must be a map from NAMESPACE/NAME to HOST:PORT, such as shop/web: 127.0.0.1:8443"
REFERENCE = "must be a kind and a name, such as deployment/shop or node/autokh-1"
AMOUNTS = "created, rejected, failed, succeeded, running or pending"
VERBS = (
    "apply, delete, scale, label, annotate, taint, cordon, uncordon, drain, restart, stop, start "
    "or fault"
)


def steps(*given: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"for": "1m", "steps": list(given), **more}


def expecting(**given: object) -> dict[str, Any]:
    return steps(expect=[given])


WRONG: dict[str, tuple[Any, list[str]]] = {
    "nothing": (None, ["for: is missing", "steps: is missing"]),
    "a preset that is not there": (
        steps(preset="big"),
        ["preset: must be 'autokh', not 'big'"],
    ),
    "nodes from two places": (
        steps(preset="autokh", nodes=[{"name": "a"}]),
        ["nodes: preset and nodes exclude each other"],
    ),
    "nodes with one name, beside a wrong step and a wrong time": (
        {
            "for": "1m",
            "every": "0s",
            "nodes": [{"name": "a", "count": 0}, {"name": "b"}, {"name": "b"}],
            "steps": [{}],
        },
        [
            "nodes[0].count: must be greater than or equal to 1, not 0",
            "nodes: these names are given more than once: b",
            "every: must be greater than or equal to 1, not '0s'",
            "steps[0].at: is missing",
        ],
    ),
    "nodes with one name": (
        steps(nodes=[{"name": "a"}, {"name": "a"}]),
        ["nodes: these names are given more than once: a"],
    ),
    "a clock that is none": (steps(clock="slow"), [f"clock: {CLOCK}, not 'slow'"]),
    "a clock that stands": (steps(clock=0), [f"clock: {CLOCK}, not 0"]),
    "no end": ({"for": 0, "steps": []}, ["for: must be greater than 0, not 0"]),
    "times without unit": (
        {"for": 90, "every": "2 min", "steps": [{"at": "soon", "restart": "autokh-1"}]},
        [
            f"for: {TIME}, not 90",
            f"every: {TIME}, not '2 min'",
            f"steps[0].at: {TIME}, not 'soon'",
        ],
    ),
    "a Service without an address": (
        steps(services={"shop/web": "here"}),
        [f"services: {ADDRESS}; not 'shop/web': 'here'"],
    ),
    "a step that does nothing": (steps({"at": 0}), [f"steps[0]: does nothing: it needs {VERBS}"]),
    "a step that does two things": (
        steps({"at": 0, "stop": "autokh-1", "start": "autokh-1"}),
        ["steps[0]: does stop and start: make it 2 steps"],
    ),
    "a name without a kind": (
        steps({"at": 0, "delete": "shop"}),
        [
            f"steps[0].delete[0]: {REFERENCE}, not 'shop'",
        ],
    ),
    "a wrong key and a wrong value of one map": (
        steps({"at": 0, "scale": {"shop": 1, "deployment/shop": -1}}),
        [
            f"steps[0].scale.shop: {REFERENCE}, not 'shop'",
            "steps[0].scale.deployment/shop: must be greater than or equal to 0, not -1",
        ],
    ),
    "an unknown key within a map of lists": (
        steps({"at": 0, "taint": {"autokh-1": [{"key": "a", "colour": "red"}]}}),
        ["steps[0].taint.autokh-1[0].colour: unknown; allowed here: effect, key, value"],
    ),
    "a fault that does not fit": (
        steps({"at": 0, "fault": {"action": "delay"}}),
        ["steps[0].fault: a delay needs afterSeconds"],
    ),
    "nodes that are not there": (
        steps(
            {"at": 0, "drain": "n"},
            {"at": 0, "label": {"node/m": {"a": "b"}}},
            expect=[{"node": "x", "rejected": 1}],
        ),
        [
            "steps[0].drain: there is no node 'n'; there is autokh-1 and autokh-2",
            "steps[1].label: there is no node 'm'; there is autokh-1 and autokh-2",
            "expect[0].node: there is no node 'x'; there is autokh-1 and autokh-2",
        ],
    ),
    "kubelets that cannot do it then": (
        steps(
            {"at": "20s", "start": "autokh-1"},
            {"at": "10s", "stop": ["autokh-1", "autokh-2"]},
            {"at": "15s", "restart": "autokh-2"},
            {"at": "30s", "start": "autokh-1"},
        ),
        [
            "steps[2].restart: the kubelet of autokh-2 is stopped by then",
            "steps[3].start: the kubelet of autokh-1 was not stopped before",
        ],
    ),
    "what has no replicas": (
        steps({"at": 0, "scale": {"daemonset/agent": 2}}),
        ["steps[0].scale: daemonset/agent has no replicas"],
    ),
    "a step after the end": (
        steps({"at": "1m", "restart": "autokh-1"}),
        ["steps[0].at: is not before the end (for)"],
    ),
    "manifests that are none": (
        steps({"at": 0, "apply": [1, {}, {"apiVersion": "v1", "kind": "Pod"}]}),
        [
            "steps[0].apply[0]: must be a manifest, or the name of a file with manifests, not 1",
            "steps[0].apply[1]: is no manifest: those say kind and apiVersion",
            "steps[0].apply[2]: the Pod has no metadata.name",
        ],
    ),
    "a file of manifests that is not there": (
        steps({"at": 0, "apply": "nowhere.yaml"}),
        ["steps[0].apply[0]: nowhere.yaml: there is no such file"],
    ),
    "an expectation of nothing": (
        expecting(workload="job/a"),
        [
            f"expect[0]: expects nothing: it needs {AMOUNTS}",
        ],
    ),
    "an expectation of nobody": (
        expecting(running=1),
        ["expect[0]: is about a workload or about a node: give one of them"],
    ),
    "more of a node than is known": (
        expecting(node="autokh-1", running=1),
        ["expect[0]: of a node only what it rejected is known"],
    ),
    "ranges that are none": (
        steps(expect=[{"workload": "job/a", "created": "many", "running": "3-1"}]),
        [
            f"expect[0].created: {RANGE}, not 'many'",
            "expect[0].running: ends before it begins: write 1-3, not '3-1'",
        ],
    ),
}


@pytest.mark.parametrize(("value", "problems"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told(value: object, problems: Sequence[str]) -> None:
    with pytest.raises(FileError) as caught:
        scenario(value, "a.yaml")
    assert list(caught.value.problems) == problems


def test_a_kind_that_is_not_served_is_answered_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("kind: CronJob\napiVersion: batch/v1\n")
    with pytest.raises(FileError) as caught:
        scenario(steps({"at": 0, "apply": "m.yaml"}), str(tmp_path / "a.yaml"))
    [problem] = caught.value.problems
    assert problem.startswith(f"steps[0].apply[0]: {tmp_path}/m.yaml: 'CronJob' of 'batch/v1' is")
    assert "Deployment, Event, Job" in problem


def test_manifests_come_from_files_beside_the_scenario_lists_and_maps(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}
    (tmp_path / "m.yaml").write_text(
        "{kind: Pod, apiVersion: v1, metadata: {name: a}}\n---\n"
        "{kind: List, apiVersion: v1, items: [{kind: Pod, apiVersion: v1, metadata: {name: b}}]}\n"
    )
    read = scenario(steps({"at": 0, "apply": ["m.yaml", pod]}), str(tmp_path / "a.yaml"))
    assert [one["metadata"]["name"] for one in read.manifests[0]] == ["a", "b", "c"]


TIMES = {0: 0, "500s": 500, "1.5s": 1.5, "2m": 120, "1h30m5s": 5405}


@pytest.mark.parametrize(("text", "seconds"), TIMES.items(), ids=map(str, TIMES))
def test_times_as_people_write_them(text: object, seconds: float) -> None:
    given = steps({"at": text, "restart": "autokh-1"}) | {"for": "2h"}
    assert scenario(given).file.steps[0].at == seconds


RANGES = {
    "a number": ("7", Range(7, 7), [6, 8]),
    "a range": ("3-5", Range(3, 5), [2, 6]),
    "at least": ("3+", Range(3, None), [2]),
}


@pytest.mark.parametrize(("text", "wanted", "outside"), RANGES.values(), ids=RANGES)
def test_ranges_hold_their_ends(text: str, wanted: Range, outside: list[int]) -> None:
    read = scenario(expecting(workload="job/a", created=text))
    assert read.file.expect[0].amounts() == {"created": wanted}
    assert wanted.least in wanted
    assert [number for number in outside if number in wanted] == []


def test_a_file_of_several_documents_is_no_scenario(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("for: 1m\n---\nsteps: []\n")
    with pytest.raises(FileError, match="a scenario is one document, and these are 2"):
        load(str(file))
