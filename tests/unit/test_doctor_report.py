"""The report of `evencore doctor`: what could not be read is unknown, and the worst comes first."""

from __future__ import annotations

import pytest
from builders import NOW, node
from doctor_builders import running, world

from evencore.doctor.report import CHECKS, diagnose
from evencore.doctor.world import Builder
from evencore.domain.policy import Policy


def test_a_healthy_cluster_has_no_findings() -> None:
    report = diagnose(world(node("n1").named().width(2)))
    assert (report.findings, report.status, report.called) == ((), 0, True)
    assert report.checked == len(CHECKS)


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        ("mutatingwebhookconfigurations", 10),
        ("pods", 7),
        ("nodes", 5),
        ("events", 1),
        ("leases", 2),
    ],
)
def test_what_may_not_be_read_is_unknown_and_not_healthy(part: str, lost: int) -> None:
    made = world(missing={part: "403"})
    report = diagnose(made)
    (one,) = report.findings
    assert (one.id, one.object, report.status) == ("not-checked", part, 2)
    assert report.checked == len(CHECKS) - lost


def test_what_is_wrong_counts_more_than_what_is_unknown() -> None:
    assert diagnose(world(lease=None, missing={"nodes": "403"})).status == 1


def test_findings_come_worst_first() -> None:
    report = diagnose(
        world(
            node("n1").width(2),
            node("n2").width(4),
            running("web", "Burstable").annotate("evencore.io/original-cpu", "{}"),
            lease=None,
            missing={"events": "403"},
        )
    )
    severities = [one.severity.value for one in report.findings]
    assert severities == sorted(severities, key=["error", "warning", "unknown", "note"].index)
    assert len(set(severities)) == 4


def test_rubbish_in_the_cluster_ends_nothing() -> None:
    builder = Builder()
    for odd_object in (None, 3, [], {"kind": "Pod"}, {"kind": "MutatingWebhookConfiguration"}):
        builder.take(odd_object)
    builder.take({"kind": "MutatingWebhookConfiguration", "webhooks": [{"rules": 3}, 4]})
    builder.take({"kind": "Pod", "metadata": {"annotations": 3}, "spec": [], "status": {}})
    made = builder.world({}, Policy(), NOW, "evencore-system", "evencore-controller")
    assert diagnose(made).status == 1
