"""The report for machines. The keys are a promise: docs/simulate.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evencore.machine import API_VERSION, Object, moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.simulation.placing import Fate
    from evencore.simulation.report import NodeReport, Report, Workload


def to_dict(report: Report) -> Object:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "asOf": moment(report.now),
        "evencore": report.evencore,
        "outcomes": _outcomes(report.outcomes),
        "workloads": [_workload(one) for one in report.workloads],
        "nodes": [_node(one) for one in report.nodes],
        "containerCpus": list(report.sizes),
        "notes": list(report.notes),
    }


def _outcomes(counted: Mapping[Any, int]) -> Object:
    return {str(outcome): number for outcome, number in sorted(counted.items())}


def _workload(one: Workload) -> Object:
    return {
        "origin": one.origin,
        "namespace": one.namespace,
        "name": one.name,
        "outcomes": _outcomes(one.outcomes),
        "pods": [_pod(fate) for fate in one.fates],
    }


def _pod(fate: Fate) -> Object:
    meta = fate.asked.view.meta if fate.asked else None
    return {
        "name": meta.name if meta else None,
        "outcome": str(fate.outcome),
        "node": fate.node,
        "numa": _by_node(fate.numa),
        "why": fate.why or None,
        "rejections": [
            {"node": one.node, "reason": one.refused.reason, "message": one.refused.message}
            for one in fate.rejections
        ],
    }


def _node(one: NodeReport) -> Object:
    standing, lost = one.standing, one.stranded
    return {
        "name": standing.name,
        "policy": standing.known.policy or None,
        "stated": standing.known.stated,
        "unknown": standing.known.unknown or standing.doubt or None,
        "notTold": list(standing.known.open),
        "admitted": one.admitted,
        "freeCpus": {"before": _by_node(one.before), "after": _by_node(one.after)},
        "stranded": _by_node(lost.cpus if lost else None),
        "strandedBecause": (lost.why or None) if lost else None,
        "notes": list(standing.notes),
    }


def _by_node(numbers: Mapping[int, int] | None) -> Object | None:
    """Write numbers by NUMA node; JSON has texts for keys."""
    return None if numbers is None else {str(node): number for node, number in numbers.items()}
