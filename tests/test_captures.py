"""Requests recorded from a real API server: what becomes of each."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apiserver
import pytest
from admission import Answer, admit
from builders import failed, node, node_topology, snapshot
from kubernetes.utils.quantity import parse_quantity

if TYPE_CHECKING:
    from evencore.domain.snapshot import Snapshot

FILES = {path.stem: path for path in (Path(__file__).parent / "captures").glob("*.json")}

# Two small nodes, one large, one of four threads per core, one that says nothing.
LABELLED = snapshot(
    node("small-1").named().width(2).largest(4),
    node("small-2").named().width(2).largest(4),
    node("n1").named().width(2).largest(22, 46).label("zone", "a").label("pool", "pinned"),
    node("wide").named().width(4).largest(20),
    node("fresh"),
    node_topology("fresh"),
)


class Expected(NamedTuple):
    """What a capture comes to."""

    result: str  # of the outcome
    cpu: dict[str, str] | None = None  # request = limit of each container afterwards
    required: bool = False  # whether LABELLED makes it keep off some nodes


_PASSED = Expected("passed")
EXPECTED = {
    "01-create-bare-odd": Expected("patched", {"app": "4"}),
    "02-create-binding-bare-odd": _PASSED,
    "03-update-status-bare-odd": _PASSED,
    "04-create-gen-fraction": Expected(
        "patched", {"init": "2", "proxy": "2", "app": "4"}, required=True
    ),
    "05-create-binding-gen-fraction": _PASSED,
    "06-update-status-gen-fraction": _PASSED,
    "07-create-burstable": Expected("unchanged"),
    "08-create-besteffort": Expected("unchanged"),
    "09-create-podlevel": Expected("unchanged"),
    # The one node that it allows holds 46.
    "10-create-affinity-or": Expected("patched", {"app": "6"}),
    "11-create-nodename": Expected("patched", {"app": "4"}),
    "12-create-gated-elsewhere": Expected("patched", {"app": "4"}),
    "13-create-windows": Expected("unchanged"),
    "14-create-hugepages-gpu": Expected("patched", {"app": "8"}, required=True),
    "15-create-spelled": Expected("patched", {"a": "4", "b": "2"}, required=True),
    "16-create-web": Expected("patched", {"app": "4"}),
    "17-create-db": Expected("patched", {"app": "10"}, required=True),
    "18-create-agent": Expected("patched", {"app": "2"}),
    "19-delete-db": _PASSED,
    "20-delete-db": _PASSED,
    "21-create-train": Expected("patched", {"app": "8"}, required=True),
    "22-create-old": Expected("patched", {"app": "4"}),
    "23-create-by-limitrange": Expected("patched", {"by-limitrange": "2"}, required=True),
    "24-create-dry": Expected("patched", {"dry": "2"}, required=True),
    "25-update-bare-odd": _PASSED,
    "26-update-bare-odd": _PASSED,
    "27-update-ephemeralcontainers-bare-odd": _PASSED,
    "28-update-resize-resizable": _PASSED,
    "29-create-eviction-resizable": _PASSED,
}
PATCHED = [name for name, expected in EXPECTED.items() if expected.result == "patched"]


def _sent(name: str) -> dict[str, Any]:
    review: dict[str, Any] = json.loads(FILES[name].read_bytes())
    return review


def _again(name: str, answer: Answer) -> dict[str, Any]:
    """Return the request that comes when another webhook has changed something after us."""
    review = copy.deepcopy(_sent(name))
    review["request"]["object"] = answer.after
    return review


def test_every_capture_has_its_expectation() -> None:
    assert FILES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("known", [snapshot(), LABELLED], ids=["no nodes", "labelled nodes"])
@pytest.mark.parametrize("name", EXPECTED)
class TestWithAnyNodes:
    """What holds whether nodes are known or not."""

    def test_the_result_is_the_one_wanted(self, name: str, known: Snapshot) -> None:
        answer = admit(_sent(name), known)
        assert answer.allowed
        assert answer.outcome.result == EXPECTED[name].result

    def test_there_is_a_patch_exactly_if_something_changes(
        self, name: str, known: Snapshot
    ) -> None:
        assert bool(admit(_sent(name), known).patch) is (name in PATCHED)

    def test_a_second_call_gives_no_patch(self, name: str, known: Snapshot) -> None:
        answer = admit(_sent(name), known)
        assert admit(_again(name, answer), known).patch == []


@pytest.mark.parametrize("name", PATCHED)
def test_without_nodes_cores_have_two_threads(name: str) -> None:
    have = {c: tuple(map(parse_quantity, pair)) for c, pair in admit(_sent(name)).cpu.items()}
    want = {c: (parse_quantity(cpu),) * 2 for c, cpu in (EXPECTED[name].cpu or {}).items()}
    assert have == want


@pytest.mark.parametrize("name", PATCHED)
def test_without_nodes_affinity_stays_as_it_is(name: str) -> None:
    answer = admit(_sent(name))
    assert answer.after["spec"].get("affinity") == answer.before["spec"].get("affinity")


@pytest.mark.parametrize("name", PATCHED)
def test_what_evencore_does_not_own_survives(name: str) -> None:
    answer = admit(_sent(name), LABELLED)
    before, after = copy.deepcopy(answer.before), copy.deepcopy(answer.after)
    for pod in (before, after):
        pod["spec"].pop("affinity", None)
        for container in apiserver.containers(pod):
            for part in ("requests", "limits"):
                container["resources"][part].pop("cpu")
        for key in ("evencore.io/decision", "evencore.io/original-cpu"):
            (pod["metadata"].get("annotations") or {}).pop(key, None)
        if not pod["metadata"].get("annotations"):
            pod["metadata"].pop("annotations", None)
    assert after == before


@pytest.mark.parametrize("name", PATCHED)
def test_labelled_nodes_that_are_too_small_are_kept_away(name: str) -> None:
    answer = admit(_sent(name), LABELLED)
    changed = answer.after["spec"].get("affinity") != answer.before["spec"].get("affinity")
    assert changed is EXPECTED[name].required


def test_a_pod_of_ten_cpus_may_use_the_large_and_the_fresh_nodes() -> None:
    answer = admit(_sent("17-create-db"), LABELLED)
    nodes = [node("small-1").largest(4), node("n1").largest(22, 46), node("fresh")]
    assert apiserver.eligible(answer.after, [n.obj for n in nodes]) == ["n1", "fresh"]


def test_a_pod_of_a_daemon_set_keeps_the_one_node_it_is_made_for() -> None:
    answer = admit(_sent("18-create-agent"), LABELLED)
    assert answer.required == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["numa-000"]}]}
    ]


def _after_a_rejection(name: str) -> Answer:
    """Send a pod whose owner's last one was refused on n7."""
    sent = _sent(name)
    meta = sent["request"]["object"]["metadata"]
    last = failed("n7").metadata(
        ownerReferences=meta["ownerReferences"], namespace=sent["request"]["namespace"]
    )
    return admit(sent, snapshot(last))


@pytest.mark.parametrize("name", ["16-create-web", "17-create-db", "22-create-old"])
def test_the_next_pod_of_an_owner_keeps_off_the_node_that_refused_its_last(name: str) -> None:
    answer = _after_a_rejection(name)
    assert not apiserver.allows(answer.after, node("n7").obj)
    assert answer.labels["evencore.io/steering"] == "excluded"


def test_the_next_pod_of_a_job_is_held_for_each_rejection_uses_up_its_backoff_limit() -> None:
    answer = _after_a_rejection("21-create-train")
    assert answer.after["spec"]["schedulingGates"] == [{"name": "evencore.io/hold"}]
    assert answer.labels["evencore.io/steering"] == "held"
