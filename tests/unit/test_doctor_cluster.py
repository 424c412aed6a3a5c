"""What `evencore doctor` says of controller, nodes and workloads."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from builders import NOW, failed, node, pod
from doctor_builders import found, lease, running, waiting, world

from evencore.doctor import controlling, machines, workloads
from evencore.doctor.report import diagnose
from evencore.doctor.views import Lease
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from builders import Pod


# --- the controller


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lease(), None),
        (lease(timedelta(seconds=16)), "c-1 renewed its Lease 16s ago"),
        (lease(leaseDurationSeconds="x", ago=timedelta(seconds=14)), None),
        (lease(holderIdentity=""), "nobody holds its Lease"),
        (lease(renewTime=None), "its Lease was never renewed"),
        (Lease(), "nobody holds its Lease"),
        (None, "its Lease is not there"),
    ],
)
def test_the_lease_is_held_and_renewed(made: Lease | None, why: str | None) -> None:
    texts = [one.text for one in controlling.lease(world(lease=made))]
    assert [why in text for text in texts] == ([True] if why else [])  # type: ignore[operator]


def test_held_pods_need_a_controller_and_a_webhook() -> None:
    assert found(controlling.gates, waiting()) == {}
    assert (
        "nobody will let it go" in found(controlling.gates, waiting(), lease=None)["Pod apps/held"]
    )
    gone = found(controlling.gates, waiting(), hooks=())["Pod apps/held"]
    assert "no webhook configuration is there: an uninstall left it behind" in gone
    old = waiting(NOW - timedelta(minutes=18))
    assert "for 18m, longer than any" in found(controlling.gates, old)["Pod apps/held"]


def test_only_our_gate_is_taken_off() -> None:
    (one,) = controlling.gates(world(waiting(NOW, "other.example/g"), lease=None))
    assert '"path":"/spec/schedulingGates/1"}' in one.remedy
    assert '"op":"test","path":"/spec/schedulingGates/1/name"' in one.remedy


# --- nodes


def odd(node_name: str, width: int = 4) -> Pod:
    text = f"SMT Alignment Error: requested 6 cpus not multiple cpus per core = {width}"
    return failed(node_name).rejected(node_name, "SMTAlignmentError", text)


def test_the_kubelet_knows_the_width_best() -> None:
    assert list(found(machines.widths, node("n7"), odd("n7"))) == ["Node n7"]
    assert found(machines.widths, node("n7").width(4), odd("n7")) == {}
    assert (
        "goes by 2 (known of it)"
        in found(machines.widths, node("n7").width(2), odd("n7"))["Node n7"]
    )
    four = Policy(default_threads_per_core=4)
    assert found(machines.widths, node("n7"), odd("n7"), policy=four) == {}


def test_the_remedy_keeps_what_the_admin_wrote() -> None:
    made = node("n7").topology(numa=[22, 24], threadsPerCore=2)
    (one,) = machines.widths(world(made, odd("n7")))
    (text,) = [part for part in one.remedy.split("'") if part.startswith("{")]
    assert json.loads(text) == {"numa": [22, 24], "threadsPerCore": 4}
    torn = node("n7").annotate("evencore.io/topology", "{")
    (one,) = machines.widths(world(torn, odd("n7")))
    assert '{"threadsPerCore":4}' in one.remedy


def test_what_is_told_of_a_node_against_what_its_kubelet_does() -> None:
    """Case 29: it is said to have no policy, and refuses pods for their topology."""
    made = node("n1").named().topology(policy="none")
    text = found(machines.contradictions, made, failed("n1"))["Node n1"]
    assert "says policy none, but its kubelet refused pod" in text
    assert found(machines.contradictions, node("n1").named(), failed("n1")) == {}


def test_reserved_cpus_should_be_whole_cores() -> None:
    split = node("n1").topology(threadsPerCore=2, numa=[23, 24], fullPcpusOnly=True)
    assert "the reserved CPUs split a core" in found(machines.reserved, split)["Node n1"]
    whole = node("n1").topology(threadsPerCore=2, numa=[22, 24], fullPcpusOnly=True)
    assert found(machines.reserved, whole) == {}


def test_mixed_widths_are_a_note_and_no_illness() -> None:
    report = diagnose(world(node("n1").named().width(2), node("n2").named().width(4)))
    assert [one.id for one in report.findings] == ["mixed-widths"]
    assert report.status == 0


# --- workloads


def test_a_sidecar_may_cost_a_pod_its_cpus() -> None:
    aligned = running("web", "Burstable").annotate("evencore.io/original-cpu", "{}")
    assert list(found(workloads.unpinned, aligned)) == ["Pod apps/web"]
    assert found(workloads.unpinned, running("other", "Burstable")) == {}
    good = running("web").annotate("evencore.io/original-cpu", "{}")
    assert found(workloads.unpinned, good) == {}


def test_an_owner_without_a_node() -> None:
    nodes = [node("n1"), node("n2")]
    both = [failed("n1"), failed("n2")]
    rejected = [one.metadata(namespace="apps") for one in both]
    assert list(found(workloads.nowhere, *nodes, *rejected)) == ["ReplicaSet apps/app"]
    assert found(workloads.nowhere, *nodes, rejected[0]) == {}
    # Only n2 takes pods, so n1 does not count.
    cordoned = node("n2")
    cordoned.obj["spec"] = {"unschedulable": True}
    assert list(found(workloads.nowhere, node("n1"), cordoned, rejected[0]))


def test_a_template_with_a_node_name_loops_for_ever() -> None:
    """Case 31."""
    rejected = [failed("n1", number=number).metadata(namespace="apps") for number in range(3)]
    made = world(*rejected)
    ((key, _),) = workloads.looping(made)
    made.pinned = {key: "n1"}
    (one,) = workloads.fixed_nodes(made)
    assert (one.id, one.object) == ("node-name-in-template", "ReplicaSet apps/app")
    assert one.remedy == "kubectl -n apps edit replicaset app"
    assert workloads.looping(world(rejected[0])) == []


def revision(made: Pod, number: str) -> Pod:
    made.owner()
    made.obj["metadata"]["ownerReferences"][-1].update(name=f"web-{number}", uid=f"rs-{number}")
    return made.label("pod-template-hash", number)


def test_an_update_that_waits_for_itself() -> None:
    old = [revision(running(f"old-{number}"), "aaa") for number in range(2)]
    held = revision(waiting(), "bbb")
    text = found(workloads.rollouts, *old, held)["Deployment apps/web"]
    assert "while 2 old pods hold theirs" in text
    assert found(workloads.rollouts, held) == {}
    assert found(workloads.rollouts, *old) == {}
    same = revision(running("same"), "bbb")
    assert found(workloads.rollouts, same, held) == {}


def test_an_update_whose_new_pods_are_rejected_waits_as_well() -> None:
    old = revision(running("old"), "aaa")
    new = revision(pod("new").metadata(namespace="apps", uid="new").rejected("n1"), "bbb")
    assert list(found(workloads.rollouts, old, new)) == ["Deployment apps/web"]
    long_ago = revision(pod("new").metadata(namespace="apps", uid="new"), "bbb")
    long_ago.rejected("n1", ago=timedelta(minutes=40))
    assert found(workloads.rollouts, old, long_ago) == {}
