"""The report for machines. The keys are a promise: docs/explain.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.machine import API_VERSION, Object, moment
from evencore.standing.verdicts import Admitted, Refused, Unsure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.explain.nodes import NodesReport
    from evencore.explain.now import Now
    from evencore.explain.report import PodReport, Report


def to_dict(report: Report) -> Object:
    """Return the report as what JSON and YAML can hold. Keys are always there, null if empty."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "asOf": moment(report.now),
        "nodes": {"known": report.nodes, "withoutFacts": report.nodes_unknown},
        "pods": [_pod(pod) for pod in report.pods],
        "passedOver": [
            {
                "file": one.source.file,
                "document": one.source.document,
                "kind": one.kind,
                "name": one.name,
                "reason": one.reason,
            }
            for one in report.passed_over
        ],
        "problems": list(report.problems),
        "notes": list(report.notes),
    }


def _pod(pod: PodReport) -> Object:
    found = pod.found
    return {
        "file": found.source.file,
        "document": found.source.document,
        "kind": found.kind,
        "name": found.name,
        "path": found.path,
        "namespace": found.namespace or None,
        "outcome": pod.outcome.value,
        "reason": pod.reason or None,
        "problems": list(pod.problems),
        "qosClass": pod.qos or None,
        "threadsPerCore": pod.threads_per_core,
        "containers": [
            {
                "name": container.name,
                "kind": container.kind,
                "cpu": {"before": container.before, "after": container.after},
                "reason": container.reason or None,
            }
            for container in pod.containers
        ],
        "placement": list(pod.placement),
        "hold": pod.hold,
        "warnings": list(pod.warnings),
        "notes": list(found.notes),
        "patch": list(pod.patch),
        "nodes": None if pod.nodes is None else _nodes(pod.nodes),
        "now": [_now(one) for one in pod.now],
        "admission": {
            "called": pod.admission.called,
            "reason": pod.admission.reason or None,
            "command": pod.admission.command,
        },
    }


def _now(one: Now) -> Object:
    said = one.verdict
    admitted = said if isinstance(said, Admitted) else None
    refused = said if isinstance(said, Refused) else None
    return {
        "node": one.node,
        "verdict": "admitted" if admitted else "rejected" if refused else "unknown",
        "reason": refused.reason if refused else None,
        "message": refused.message if refused else None,
        "unknown": said.why if isinstance(said, Unsure) else None,
        "numa": _by_node(admitted.numa if admitted else None),
        "freeCpus": _by_node(admitted.free if admitted else None),
    }


def _by_node(numbers: Mapping[int, int] | None) -> Object | None:
    """Write numbers by NUMA node; JSON has texts for keys."""
    return None if numbers is None else {str(node): number for node, number in numbers.items()}


def _nodes(nodes: NodesReport) -> Object:
    return {
        "fit": list(nodes.fit),
        "mayFit": list(nodes.may_fit),
        "unfit": [
            {"reason": group.reason, "keptOff": group.kept_off, "nodes": list(group.nodes)}
            for group in nodes.others
        ],
        "rejectedLately": list(nodes.rejected),
    }
