"""`evencore cluster run`: the examples as people play them, and what it says of mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evencore.cli import main
from simulator.scenario.model import AMOUNTS, VERBS, ScenarioFile

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.yaml"))}
SCENARIOS = [name for name, path in EXAMPLES.items() if "\nkind: " not in path.read_text()]
PATIENCE = re.compile(r"evencore: at \d+:\d\d of \d+:\d\d \.\.\.\n")  # on a machine that is busy
PAGE = (ROOT / "docs" / "pocket-cluster.md").read_text()


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["cluster", "run", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_example_goes_as_it_expects(name: str) -> None:
    code, out, err = run(str(EXAMPLES[name]))
    assert (code, PATIENCE.sub("", err)) == (0, "")
    assert out.startswith(f"{name}.yaml: 2 nodes, ")


def words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    """Take numbers and the space between columns apart from all else."""
    return re.sub(r"\d+", "N", text).split(), [float(number) for number in re.findall(r"\d+", text)]


def test_the_page_shows_an_example_and_what_it_really_prints() -> None:
    """Figures within 15 %, as everywhere: whoever speeds up the cluster need not mend the page."""
    assert f"```yaml\n{EXAMPLES['loop'].read_text()}```" in PAGE
    [shown] = re.findall(r"\$ evencore cluster run examples/loop.yaml\n(.*?)```", PAGE, re.DOTALL)
    words, numbers = words_and_numbers(run(str(EXAMPLES["loop"]))[1])
    assert words_and_numbers(shown) == (words, pytest.approx(numbers, rel=0.15, abs=1))


def test_the_crowd_that_the_page_applies_by_hand_loops_from_the_first_pod() -> None:
    crowd = EXAMPLES["crowd"]
    Path("by-hand.yaml").write_text(
        f"for: 1m\nsteps: [{{at: 0, apply: {crowd}}}]\n"
        "expect: [{workload: deployment/crowd, rejected: 800-1200, running: 0}]\n"
    )
    code, out, err = run("by-hand.yaml")
    assert (code, PATIENCE.sub("", err), "SMTAlignmentError" in out) == (0, "", True)


def test_the_page_names_every_key_and_every_verb() -> None:
    section = PAGE.partition("## Scenarios")[2].partition("\n## ")[0]
    keys = [field.alias or name for name, field in ScenarioFile.model_fields.items()]
    assert [key for key in (*keys, *VERBS, *AMOUNTS) if f"`{key}" not in section] == []


def test_the_same_seed_gives_the_same_output_in_every_process() -> None:
    """Not even the order of Python's sets, another one in each process, makes a difference."""
    evencore = Path(sys.executable).with_name("evencore")

    def output(hashes: str, seed: str) -> str:
        return subprocess.run(
            [evencore, "cluster", "run", "-o", "json", "--seed", seed, EXAMPLES["gaps"]],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    assert output("1", "7") == output("2", "7") != output("1", "8")


SMALL = """
for: 10s
nodes: [{name: n1}]
steps:
  - at: 1s
    apply: {apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {nodeName: n1, containers: [
      {name: app, image: x, resources: {limits: {cpu: 100, memory: 1Gi}}}]}}
expect:
  - {workload: pod/big, running: 1}
"""


def test_json_has_everything_and_the_exit_code_says_that_it_was_not_as_expected() -> None:
    Path("small.yaml").write_text(SMALL)
    code, out, err = run("small.yaml", "-o", "json")
    big = {"kind": "Pod", "namespace": "default", "name": "big"}
    counts = {"created": 1, "rejected": 1, "failed": 0, "succeeded": 0, "running": 0, "pending": 0}
    text = "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 16000"
    told = json.loads(out)
    assert told == {
        "scenario": "small.yaml",
        "seed": 1,
        "seconds": 10.0,
        "interrupted": False,
        "timeline": [
            {"at": 1.0, "kind": "step", "text": "apply pod/big: created"},
            {"at": 1.01, "kind": "warning", "text": f"OutOfcpu, kubelet: {text}"},
            {"at": 10.0, "kind": "pods", "workload": big, **counts},
        ],
        "workloads": [{**big, **counts}],
        "nodes": [{"name": "n1", "rejected": {"OutOfcpu": 1}}],
        "warnings": [{"component": "kubelet", "reason": "OutOfcpu", "times": 1, "message": text}],
        "unmet": ["pod/big: running is 0, expected 1"],
    }
    assert (code, err) == (1, "evencore: pod/big: running is 0, expected 1\n")


def test_a_wrong_file_ends_it_with_2_and_every_mistake() -> None:
    Path("wrong.yaml").write_text("for: 10\nsteps: [{at: 0}]\n")
    code, out, err = run("wrong.yaml")
    assert (code, out) == (2, "")
    assert [line.partition(":")[0] for line in err.splitlines()] == ["evencore"] * 2
    assert "evencore: wrong.yaml: for: must be a time with its unit" in err


def test_a_manifest_is_no_scenario() -> None:
    crowd = str(EXAMPLES["crowd"])
    told = "this is a manifest (kind Deployment), not a scenario"
    assert run(crowd) == (2, "", f"evencore: {crowd}: {told}\n")


def test_others_can_take_part_and_who_interrupts_it_gets_what_there_is() -> None:
    """What is told last before the wait is the sign that the scenario is under way."""
    Path("long.yaml").write_text(SMALL.replace("for: 10s", "for: 1h\nclock: real"))
    evencore = Path(sys.executable).with_name("evencore")
    command = [evencore, "cluster", "run", "long.yaml", "--kubeconfig", "pocket"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "! OutOfcpu" not in process.stdout.readline():
            assert process.poll() is None
        assert "server: https://127.0.0.1:" in Path("pocket").read_text()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130
    assert not Path("pocket").exists(), "nothing is left behind"
    assert re.search(r"^ +0:0\d  interrupted; no expectation is looked at$", rest, re.MULTILINE)
    assert re.search(r"pod/big +1 +1", rest)
