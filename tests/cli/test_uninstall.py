"""`evencore uninstall` against the pocket cluster: what goes, what stays, in which order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from simulator_support import Wire, pod

from evencore.cli import main
from evencore.domain import names
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
PODS = "/api/v1/namespaces/default/pods"
OTHERS_GATE = {"name": "example.com/quota"}


def configuration(name: str, *hooks: str) -> dict[str, object]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": hook,
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                "clientConfig": {"url": "https://127.0.0.1:9/mutate"},
                "rules": [],
            }
            for hook in hooks
        ],
    }


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    """Start an API server that evencore has left things in."""
    with ApiServer(Options(secure=False)) as server, Wire(server) as wire:
        (tmp_path / "kubeconfig").write_text(server.kubeconfig())
        for name, hooks in {
            "evencore": ["pods.evencore.io"],
            "mixed": ["a.example.com", "pods.evencore.io"],
            "others": ["a.example.com"],
        }.items():
            wire.post(CONFIGURATIONS, configuration(name, *hooks))
        wire.post(PODS, pod("held", schedulingGates=[{"name": names.HOLD}]))
        wire.post(PODS, pod("held-twice", schedulingGates=[OTHERS_GATE, {"name": names.HOLD}]))
        wire.post(PODS, pod("free"))
        labels = {names.NODE: "n1", names.MAX_POD_CPUS: "46", "zone": "a"}
        annotations = {names.ROOM_SINCE: "2026-01-01T00:00:00Z", names.NODE_TOPOLOGY: "{}"}
        meta = {"name": "n1", "labels": labels, "annotations": annotations}
        wire.post("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": meta})
        yield wire


def uninstall(directory: Path, *flags: str) -> tuple[int, str]:
    command = ["uninstall", "--kubeconfig", str(directory / "kubeconfig"), *flags]
    result = CliRunner().invoke(main, command)
    return result.exit_code, result.output


def gates(wire: Wire, name: str) -> object:
    return wire.get(f"{PODS}/{name}")["spec"].get("schedulingGates") or []


def test_what_is_ours_goes_and_what_is_not_stays(wire: Wire, tmp_path: Path) -> None:
    code, said = uninstall(tmp_path, "--yes")
    assert (code, said.splitlines()[-1]) == (0, "Done: 5 steps.")
    found = wire.get(CONFIGURATIONS)["items"]
    assert {one["metadata"]["name"]: len(one["webhooks"]) for one in found} == {
        "mixed": 1,
        "others": 1,
    }
    assert (gates(wire, "held"), gates(wire, "held-twice")) == ([], [OTHERS_GATE])
    meta = wire.get("/api/v1/nodes/n1")["metadata"]
    assert meta["labels"] == {"zone": "a"}
    assert meta["annotations"] == {names.NODE_TOPOLOGY: "{}"}, "an admin wrote this"
    assert uninstall(tmp_path, "--yes") == (0, "Nothing of evencore is left in this cluster.\n")


@pytest.mark.parametrize("flags", [[], ["--dry-run"]], ids=["no flag", "--dry-run"])
def test_without_yes_it_only_says_what_it_would_do_webhooks_first(
    wire: Wire, tmp_path: Path, flags: list[str]
) -> None:
    before = json.dumps([wire.get(CONFIGURATIONS), wire.get(PODS), wire.get("/api/v1/nodes")])
    code, said = uninstall(tmp_path, *flags)
    assert code == 0
    assert said.splitlines() == [
        "delete MutatingWebhookConfiguration evencore",
        "take pods.evencore.io out of MutatingWebhookConfiguration mixed",
        f"take the gate {names.HOLD} off pod default/held",
        f"take the gate {names.HOLD} off pod default/held-twice",
        f"take {names.NODE}, {names.MAX_POD_CPUS}, {names.ROOM_SINCE} off node n1",
        "Nothing was done: add --yes to do this.",
    ]
    after = json.dumps([wire.get(CONFIGURATIONS), wire.get(PODS), wire.get("/api/v1/nodes")])
    assert after == before


@pytest.mark.parametrize(
    ("holder", "ago", "status"),
    [("evencore-controller-1", 1, 1), ("evencore-controller-1", 60, 0), ("", 1, 0)],
)
def test_a_controller_that_is_at_work_is_told_for_it_labels_nodes_again(
    holder: str, ago: int, status: int, wire: Wire, tmp_path: Path
) -> None:
    renewed = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat()
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}
    lease = {"metadata": {"name": "evencore-controller"}, "spec": spec}
    wire.post("/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
    code, said = uninstall(tmp_path, "--yes")
    words = "evencore: stop the controller: not done: evencore-controller-1 is at work"
    assert (code, words in said) == (status, bool(status))
    assert "Done but for 1 step." in said if status else "Done: 5 steps." in said
    assert not gates(wire, "held"), "the rest is done"


def test_a_cluster_that_cannot_be_read_is_one_line_and_2(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(ApiServer(Options(secure=False)).kubeconfig())
    code, said = uninstall(tmp_path, "--yes")
    assert (code, said.count("\n")) == (2, 1)
