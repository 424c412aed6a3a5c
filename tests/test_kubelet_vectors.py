"""Our kubelet says in every field what a real one said, and we would see it if it did not."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kubelet_vectors import Difference, check, labels, main, scenarios

FOLDER = Path(__file__).parent / "vectors"
RULES = {scenario["id"]: scenario for scenario in scenarios(FOLDER / "rules.jsonl")}


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_agrees(rule: str) -> None:
    assert check(RULES[rule]) == []


def test_every_random_scenario_agrees() -> None:
    found = {one["id"]: check(one) for one in scenarios(FOLDER / "random-public.jsonl.gz")}
    assert {id_: differences for id_, differences in found.items() if differences} == {}
    assert len(found) == 2000


def _changed(rule: str, *path: str | int, to: object) -> dict[str, Any]:
    """Copy a rule with one value changed; `to` None takes it away."""
    scenario = copy.deepcopy(RULES[rule])
    place: Any = scenario
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return scenario


RESULT = ("steps", 0, "result")
RESTART = ("steps", 2, "results", 0)


@pytest.mark.parametrize(
    ("scenario", "step", "field"),
    [
        (_changed("smt1", "reserved", to="0-3"), "start", "reserved"),
        (_changed("smt1", "initial", "free", 0, to=1), "start", "free"),
        (_changed("smt1", "initial", "freeCores", 1, to=1), "start", "freeCores"),
        (_changed("reserve-zero", "startError", to="no"), "start", "startError"),
        (_changed("reserve-zero", "startError", to=None), "start", "startError"),
        ({**RULES["smt1"], "startError": "no"}, "start", "startError"),
        (_changed("smt1", "steps", 0, "free", 0, to=1), "1 add a", "free"),
        (_changed("smt1", "steps", 0, "freeCores", 0, to=1), "1 add a", "freeCores"),
        (_changed("smt1", *RESULT, "qos", to="Burstable"), "1 add a", "qos"),
        (_changed("smt1", *RESULT, "admitted", to=False), "1 add a", "admitted"),
        (_changed("smt1", *RESULT, "cpusets", "c", to="9"), "1 add a", "cpusets"),
        (_changed("smt1", *RESULT, "cpusets", to=None), "1 add a", "cpusets"),
        (_changed("smt1", *RESULT, "affinity", "c", "numa", to=[1]), "1 add a", "affinity"),
        (_changed("smt1", *RESULT, "affinity", to=None), "1 add a", "affinity"),
        (_changed("smt1", *RESULT, "unheard-of", to="x"), "1 add a", "unheard-of"),
        (_changed("smt2-odd", *RESULT, "reason", to="no"), "1 add a", "reason"),
        (_changed("smt2-odd", *RESULT, "message", to="no"), "1 add a", "message"),
        (
            _changed("partial-then-rejected", *RESULT, "partial", to=None),
            "1 add a",
            "partial",
        ),
        (
            _changed("memory-none-policy", *RESULT, "memoryNuma", "c", to=[0]),
            "1 add a",
            "memoryNuma",
        ),
        (
            _changed("podlevel-alpha-pod-scope", *RESULT, "podCpuset", to="1"),
            "1 add a",
            "podCpuset",
        ),
        (
            _changed("podlevel-alpha-pod-scope", *RESULT, "isolation", to=None),
            "1 add a",
            "isolation",
        ),
        (
            _changed("podlevel-default", *RESULT, "podResources", "requests", "cpu", to="5"),
            "1 add a",
            "podResources",
        ),
        (
            _changed("restart-plain", *RESTART, "cpusets", to={"c": "1"}),
            "3 restart a",
            "cpusets",
        ),
        (_changed("restart-plain", *RESTART, "pod", to="other"), "3 restart", "pods"),
        (_changed("restart-plain", "steps", 2, "startError", to="no"), "3 restart", "startError"),
    ],
)
def test_a_difference_is_seen(scenario: dict[str, Any], step: str, field: str) -> None:
    assert [(one.step, one.field) for one in check(scenario)] == [(step, field)]


def test_a_difference_says_what_was_wanted_and_what_we_said() -> None:
    assert check(_changed("smt1", *RESULT, "cpusets", "c", to="9")) == [
        Difference("1 add a", "cpusets", {"c": "9"}, RULES["smt1"]["steps"][0]["result"]["cpusets"])
    ]


def test_a_scenario_counts_for_its_policy_options_gates_and_memory_manager() -> None:
    assert list(labels(RULES["closest-numa"])) == [
        "policy restricted, scope container",
        "option prefer-closest-numa-nodes",
    ]
    assert list(labels(RULES["restart-align-by-socket"])) == [
        "policy restricted, scope pod",
        "option align-by-socket",
        "gate CPUManagerPolicyAlphaOptions",
    ]
    assert list(labels(RULES["memory-none-policy"])) == ["policy none", "memory manager Static"]


def test_the_command_ends_with_0_only_at_100_percent(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl.gz"
    good.write_text(json.dumps(RULES["smt1"]))
    wrong = _changed("smt2-odd", *RESULT, "reason", to="no")
    bad.write_bytes(gzip.compress(json.dumps(wrong).encode()))

    fine = CliRunner().invoke(main, [str(good)])
    assert fine.exit_code == 0
    assert "policy single-numa-node, scope container" in fine.output

    both = CliRunner().invoke(main, [str(good), str(bad)])
    assert both.exit_code == 1
    assert 'smt2-odd, step 1 add a, reason:\n  kubelet "no"\n' in both.output
    assert both.output.splitlines()[3].split() == ["all", "1", "of", "2"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"\n", "no scenario to compare"),
        ("cut.jsonl", b'\n{"id":', "cut.jsonl, line 2: no JSON"),
        ("list.jsonl", b"[]", "line 1: no scenario with id, machine and config"),
        ("plain.gz", b"{}", "Not a gzipped file"),
        ("cut.gz", gzip.compress(b"{}" * 99, mtime=0)[:20], "end-of-stream marker"),
    ],
)
def test_a_file_that_is_none_is_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    failed = CliRunner().invoke(main, [str(file)])
    assert failed.exit_code == 2
    assert message in failed.output


def test_an_error_of_ours_is_a_difference_and_ends_nothing(tmp_path: Path) -> None:
    file = tmp_path / "both.jsonl"
    wrong = _changed("smt1", "steps", 0, "spec", to=None)
    file.write_text("\n".join(json.dumps(one) for one in (wrong, RULES["smt2-odd"])))
    both = CliRunner().invoke(main, [str(file)])
    assert both.exit_code == 1
    assert 'smt1, step ?, an error of ours:\n  kubelet null\n  ours    "KeyError(' in both.output
    assert ["all", "1", "of", "2"] in [line.split() for line in both.output.splitlines()]
