"""Whatever the objects of a cluster are called, no command lets them steer a terminal.

Each text that stands anywhere in a dump becomes a hostile one in turn, everywhere at once, so that
owners are still found by their pods and nodes by their names; and every command is run on it.
"""

from __future__ import annotations

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from builders import NOW, _Object, container, failed, limit_range, node, node_topology, pod
from cli import explaining, rejecting
from click.testing import CliRunner
from doctor_builders import world
from security.hostile import ALL, harmless, renamed, texts_in

from controller.state import Owner
from evencore.doctor.report import diagnose
from evencore.doctor.text import render
from evencore.doctor.workloads import fixed_nodes
from evencore.domain import names
from evencore.nodes_command import make_nodes_command
from evencore.simulate_command import make_simulate_command
from evencore.uninstall_command import make_uninstall_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from click.testing import Result

Object = dict[str, Any]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _cluster() -> list[_Object]:
    """Return something of everything that commands tell of."""
    sentence = "not on n1 until 12:10Z: TopologyAffinityError, 2 rejections"
    mib = {"cpu": "48", "memory": "64Gi", "pods": "110"}
    nodes = [
        node("n1").named().width(2).largest(22, 44).annotate("evencore.io/topology", '{"x":"y"}'),
        node("n2").annotate(names.LABEL_REASONS, '{"evencore.io/threads-per-core":"2: told"}'),
        node("n3").named().width(2).topology(threadsPerCore=4, fullPcpusOnly=True),
    ]
    for one in nodes:
        one.obj["status"] = {"capacity": mib, "allocatable": mib}
    return [
        *nodes,
        node_topology("n2").numa("22", "24").attribute("topologyManagerPolicy", "none"),
        rejecting.takes_part().annotate("evencore.io/cpu", "warnn"),
        limit_range("small", "apps").maximum("3"),
        *(rejecting.refused("n1", number) for number in range(3)),
        rejecting.refused("n2", 7).rejected(
            "n2", "SMTAlignmentError", "requested 3 cpus not multiple cpus per core = 4"
        ),
        failed("n2", "job-1", 9).owner("job-1", "Job").metadata(finalizers=["batch/tracking"]),
        failed("n2", "set-1", 3).owner("set-1", "StatefulSet").annotate(names.ON_REJECTION, "no"),
        pod("bare").rejected("n1").metadata(uid="bare", namespace="apps"),
        rejecting.held(1, timedelta(minutes=3)).annotate(names.DECISION, sentence),
        pod("steered").label(names.STEERING, "excluded").annotate(names.DECISION, sentence),
        pod("odd").containers(container("app", "3"), container("side", "x")).owner("rs-2"),
        pod("runs").cpu("3").spec(nodeName="n1").owner("rs-2"),
        pod("asks").cpu("3").annotate("evencore.io/cpu.gone", "keepp").annotate("a", "b"),
    ]


def _documents() -> list[Object]:
    event = {
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "apps"},
        "involvedObject": {"kind": "Pod", "namespace": "apps", "name": "web-0", "uid": "gone"},
        "reason": "TopologyAffinityError",
        "message": "Resources cannot be allocated",
        "source": {"component": "kubelet", "host": "n1"},
        "lastTimestamp": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return [*(one.obj for one in _cluster()), event]


def _on_file(make: Callable[[], Any], *args: str) -> Callable[[list[Object]], Result]:
    def run(documents: list[Object]) -> Result:
        Path("dump.json").write_text(json.dumps({"kind": "List", "items": documents}))
        return CliRunner().invoke(make(), ("-f", "dump.json", *args), color=True)

    return run


def _rejections(*args: str) -> Callable[[list[Object]], Result]:
    def run(documents: list[Object]) -> Result:
        fake = rejecting.Fake()
        fake.documents = documents
        fake.refuses = lambda one: f"the API server says no to {one.name}" * (one.name != "x")
        return fake.run(*args)

    return run


def _explain(documents: list[Object]) -> Result:
    pods = [one for one in documents if one.get("kind") == "Pod"][-4:]
    Path("pods.json").write_text("\n".join(map(json.dumps, pods)))
    Path("nodes.json").write_text(json.dumps({"kind": "List", "items": documents}))
    return explaining.run("-f", "pods.json", "--nodes", "nodes.json")


def _uninstall(documents: list[Object]) -> Result:
    def undo(*_: object, do: bool) -> Iterator[tuple[str, str | None]]:
        del do
        for one in documents:
            name = str((one.get("metadata") or {}).get("name"))
            yield f"gate of pod {name} taken off", None
            yield f"labels of node {name} taken away", f"{name} says no"

    return CliRunner().invoke(make_uninstall_command(undo), ("--yes",))


_CHECKED = re.compile(
    r"[0-9]+(Gi)?|20..-.*Z|.*v1(alpha2)?|[A-Z][A-Za-z]+|failed-n1-[12]|.*/n1/[12]"
)
"""Amounts, times and kinds: API servers take nothing else there. And what there is three times."""

_TENANTS = {"ReplicaSet", "TopologyAffinityError"}  # owners and reasons are anybody's

COMMANDS: dict[str, Callable[[list[Object]], Result]] = {
    "explain": _explain,
    "rejections": _rejections("-o", "wide"),
    "rejections, for machines": _rejections("-o", "json"),
    "rejections, pod by pod": _rejections("--pods"),
    "rejections that are deleted": _rejections("--delete-rejected", "--yes"),
    "nodes": _on_file(lambda: make_nodes_command(_no_cluster), "-o", "wide"),
    "simulate": _on_file(lambda: make_simulate_command(lambda: NOW), "-o", "wide"),
    "uninstall": _uninstall,
}


def _no_cluster(*_: object) -> Iterable[object]:
    raise AssertionError("a dump is given")


_AT_A_TIME = 5
"""Texts; each becomes another one, so that objects are still told apart."""


def _hostile() -> Iterator[tuple[list[str], list[Object]]]:
    documents = _documents()
    texts = [
        text
        for text in sorted(texts_in(documents))
        if text in _TENANTS or not _CHECKED.fullmatch(text)
    ]
    for start in range(0, len(texts), _AT_A_TIME):
        spoiled = documents
        for number, text in enumerate(texts[start : start + _AT_A_TIME]):
            spoiled = renamed(spoiled, text, f"{ALL}{number}")
        yield texts[start : start + _AT_A_TIME], spoiled


@pytest.mark.parametrize("name", COMMANDS)
def test_no_text_of_a_cluster_steers_the_terminal(name: str) -> None:
    plain = COMMANDS[name](_documents())
    assert plain.exception is None or isinstance(plain.exception, SystemExit), plain.exception
    assert "n1" in plain.output
    reached = 0
    for texts, documents in _hostile():
        result = COMMANDS[name](documents)
        fault = result.exception
        assert fault is None or isinstance(fault, SystemExit), (texts, fault)
        assert harmless(result.output), (texts, result.output)
        reached += FORGED_SHOWN in result.output
    assert reached, "no text reached the output: this test would pass whatever is printed"


FORGED_SHOWN = "all is lost"


def test_nor_does_doctors_report() -> None:
    reached = 0
    for texts, documents in _hostile():
        objects = [_given(one) for one in documents]
        shown = render(diagnose(world(*objects)), colour=False)
        assert harmless(shown), (texts, shown)
        reached += FORGED_SHOWN in shown
    assert reached


def test_a_remedy_that_is_copied_into_a_shell_runs_nothing_of_an_owners_name() -> None:
    owner = Owner("apps/v1", "ReplicaSet;id", "apps", "web $(touch here) `id`", "u")
    seen = SimpleNamespace(pinned={"k": "n1"}, picture=SimpleNamespace(owners={"k": owner}))
    [finding] = fixed_nodes(seen)  # type: ignore[arg-type] # as much of it as is asked
    words = shlex.split(finding.remedy)
    assert words == ["kubectl", "-n", "apps", "edit", "replicaset;id", owner.name]


def _given(document: Object) -> _Object:
    made = _Object("", "", None)
    made.obj = document
    return made
