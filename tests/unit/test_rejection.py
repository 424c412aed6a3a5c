"""What a kubelet meant when it refused a pod. Texts are those of Kubernetes 1.36 unless said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import NOW, Pod, failed, pod

from evencore.domain.rejection import Kind, Rejection, classify, named_width, rejection_of

SMT = "SMTAlignmentError"
UNEXPECTED = "UnexpectedAdmissionError"
WRAPPED = "Pod was rejected: Allocate failed due to {}, which is unexpected"

CASES: dict[str, tuple[str | None, str | None, Kind | None]] = {
    "an odd request": (
        SMT,
        "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
        Kind.MISALIGNED,
    ),
    "no free cores": (
        SMT,
        (
            "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, "
            "requested CPUs = 4, CPUs per core = 2"
        ),
        Kind.NO_FREE_CORES,
    ),
    "no free cores, as kubelets before 1.32 put it": (
        SMT,
        "SMT Alignment Error: requested 4 cpus not multiple cpus per core = 2",
        Kind.NO_FREE_CORES,
    ),
    "an alignment error without a text": (SMT, None, Kind.NO_FREE_CORES),
    "a width of zero in the text": (
        SMT,
        "requested 4 cpus not multiple cpus per core = 0",
        Kind.NO_FREE_CORES,
    ),
    "the reason in words, as old kubelets wrote it": (
        "SMT Alignment Error",
        "requested 3 cpus not multiple cpus per core = 2",
        Kind.MISALIGNED,
    ),
    "no NUMA node": (
        "TopologyAffinityError",
        "Pod was rejected: Resources cannot be allocated with Topology locality",
        Kind.NO_ALIGNED_NUMA,
    ),
    "no NUMA node, in words": ("Topology Affinity Error", "", Kind.NO_ALIGNED_NUMA),
    "no NUMA node, in small letters": ("topologyaffinityerror", "", Kind.NO_ALIGNED_NUMA),
    "too few CPUs": (
        UNEXPECTED,
        WRAPPED.format("not enough cpus available to satisfy request: requested=10, available=8"),
        Kind.UNEXPECTED,
    ),
    "an accounting error of the CPU manager": (
        UNEXPECTED,
        WRAPPED.format("accounting error, not enough CPUs allocated, remaining: 2"),
        Kind.UNEXPECTED,
    ),
    "too little memory on every NUMA node": (
        UNEXPECTED,
        WRAPPED.format("[memorymanager] failed to get the default NUMA affinity"),
        Kind.UNEXPECTED,
    ),
    "too few devices": (
        UNEXPECTED,
        WRAPPED.format("requested number of devices unavailable for x/gpu. Requested: 2"),
        Kind.UNEXPECTED,
    ),
    "an unknown device": (
        UNEXPECTED,
        WRAPPED.format("cannot allocate unregistered device x/gpu"),
        Kind.UNEXPECTED,
    ),
    "an unhealthy device": (
        UNEXPECTED,
        WRAPPED.format("no healthy devices present; cannot allocate unhealthy devices x/gpu"),
        Kind.UNEXPECTED,
    ),
    "a device plugin that answers in its own words": (
        UNEXPECTED,
        WRAPPED.format("rpc error: code = Unknown desc = Unable to claim slot"),
        Kind.UNEXPECTED,
    ),
    "a device plugin that cannot choose, as kubelets before 1.31 put it": (
        UNEXPECTED,
        (
            "Pod Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: "
            "rpc error: code = Unknown desc = GPU is lost, which is unexpected"
        ),
        Kind.UNEXPECTED,
    ),
    "a device plugin, as kubelets before 1.18 put it": (
        UNEXPECTED,
        "Pod Update plugin resources failed due to rpc error: code = Unavailable, which is odd",
        Kind.UNEXPECTED,
    ),
    "something else that was unexpected": (
        UNEXPECTED,
        "preemption: error finding a set of pods to preempt: no preemption victims found",
        None,
    ),
    "too little CPU by the scheduler's count": ("OutOfcpu", "requested: 3000", Kind.OUT_OF),
    "too little of something else": ("OutOfexample.com/gpu", "", Kind.OUT_OF),
    "evicted": ("Evicted", "The node had condition: [MemoryPressure].", None),
    "the node's affinity": ("NodeAffinity", "Predicate NodeAffinity failed", None),
    "a node that shuts down": ("NodeShutdown", "", None),
    "no reason": (None, None, None),
    "an empty reason": ("", "", None),
    "a reason that only begins like ours": ("TopologyAffinityErrors", "", None),
}


@pytest.mark.parametrize(("reason", "message", "want"), CASES.values(), ids=CASES)
def test_the_kind_is_read_from_reason_and_message(
    reason: str | None, message: str | None, want: Kind | None
) -> None:
    assert classify(reason, message) is want


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (Kind.NO_FREE_CORES, True),
        (Kind.NO_ALIGNED_NUMA, True),
        (Kind.UNEXPECTED, True),
        (Kind.MISALIGNED, False),
        (Kind.OUT_OF, False),
    ],
)
def test_only_what_another_node_may_cure_excludes_a_node(kind: Kind, *, want: bool) -> None:
    assert kind.excludes is want


def test_a_failed_pod_tells_all_of_its_rejection() -> None:
    assert rejection_of(failed("n1").view) == Rejection(
        uid="rs-1/n1/1",
        owner="apps/rs-1",
        node="n1",
        kind=Kind.NO_ALIGNED_NUMA,
        reason="TopologyAffinityError",
        at=NOW - timedelta(seconds=10),
        namespace="apps",
        pod=failed("n1").obj["metadata"]["name"],
        clock=NOW - timedelta(seconds=10),
    )


def _with_status(**changes: Any) -> Pod:  # noqa: ANN401  any JSON
    built = failed("n1")
    built.obj["status"] |= changes
    return built


@pytest.mark.parametrize(
    "built",
    [
        pytest.param(pod().owner(), id="no status"),
        pytest.param(_with_status(phase="Running"), id="a pod that runs"),
        pytest.param(_with_status(phase=None), id="no phase"),
        pytest.param(_with_status(reason="Evicted"), id="another reason"),
        pytest.param(pod().rejected("n1"), id="nobody's pod"),
        pytest.param(pod().owner(controller=False).rejected("n1"), id="an owner in name only"),
        pytest.param(failed("n1").spec(nodeName=None), id="no node"),
        pytest.param(failed("n1").spec(nodeName=""), id="an empty node"),
    ],
)
def test_no_rejection_is_made_up(built: Pod) -> None:
    assert rejection_of(built.view) is None


@pytest.mark.parametrize(
    ("status", "created", "want"),
    [
        pytest.param("2026-03-01T10:00:00Z", None, (10, 0), id="status.startTime"),
        pytest.param("2026-03-01T12:00:00+02:00", None, (10, 0), id="another zone, kept in UTC"),
        pytest.param(None, "2026-03-01T09:00:00Z", (9, 0), id="else the time of creation"),
        pytest.param("junk", "2026-03-01T09:00:00Z", (9, 0), id="junk counts as missing"),
        pytest.param("2026-03-01T10:00:00", None, None, id="no zone told"),
        pytest.param("0001-01-01T00:00:00+14:00", None, None, id="before the first day"),
        pytest.param(None, None, None, id="nothing told"),
        pytest.param(
            "2026-03-01T08:00:00Z",
            "2026-03-01T10:00:00Z",
            (10, 0),
            id="no kubelet sees a pod before it is made: its clock is behind",
        ),
    ],
)
def test_the_time_is_when_the_kubelet_saw_the_pod(
    status: str | None, created: str | None, want: tuple[int, int] | None
) -> None:
    built = _with_status(startTime=status).metadata(creationTimestamp=created)
    rejection = rejection_of(built.view)
    assert rejection is not None
    assert rejection.at == (datetime(2026, 3, 1, *want, tzinfo=UTC) if want else None)


FOLDER = Path(__file__).parent.parent / "cases"
BARE = yaml.safe_load((FOLDER / "38-bare-pod.yaml").read_text())["input"]["pods"]


@pytest.mark.parametrize("shown", BARE, ids=[one["name"] for one in BARE])
def test_only_a_controller_has_its_pods_rejections_counted(shown: dict[str, Any]) -> None:
    """Case 38: nobody makes another for a bare pod; a static pod is its node's own affair."""
    obj = failed("n1").metadata(ownerReferences=shown["ownerReferences"])
    found = rejection_of(obj.view)
    assert (found.owner if found else None) == {"custom": "apps/k1"}.get(shown["name"])


def test_a_pod_of_a_stateful_set_counts_for_its_name_for_the_uid_is_in_no_event() -> None:
    built = pod("web-0").owner("uid", "StatefulSet").rejected("n1").metadata(namespace="apps")
    found = rejection_of(built.view)
    assert found is not None
    assert found.owner == "StatefulSet/apps/app"


def test_a_pod_that_was_let_go_before_says_so() -> None:
    found = rejection_of(failed("n1").label("evencore.io/steering", "released").view)
    assert found is not None
    assert found.released


def test_the_uid_of_somebody_elses_owner_tells_nothing_of_it() -> None:
    """A tenant may write any uid into the ownerReferences of pods of his own."""
    theirs = rejection_of(failed("n1").metadata(namespace="shop").view)
    forged = rejection_of(failed("n1").metadata(namespace="tenant").view)
    assert theirs is not None
    assert forged is not None
    assert theirs.owner != forged.owner


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("requested 3 cpus not multiple cpus per core = 2", 2),
        ("available physical CPUs = 2, requested CPUs = 4, CPUs per core = 4", 4),
        ("requested 4 cpus not multiple cpus per core = 3", None),
        ("requested 4 cpus not multiple cpus per core = 0", None),
        ("requested 3 cpus", None),
        (None, None),
    ],
)
def test_only_widths_that_exist_are_learnt_from_a_text(text: str | None, width: int | None) -> None:
    assert named_width(text) == width
