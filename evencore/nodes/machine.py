"""The report for machines. The keys are a promise: docs/nodes.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.machine import API_VERSION, Object, moment

if TYPE_CHECKING:
    from evencore.domain.learnt import Witness
    from evencore.nodes.report import Fact, NodeReport, Report


def to_dict(report: Report) -> Object:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Nodes",
        "asOf": moment(report.now),
        "nodes": [_node(one) for one in report.nodes],
        "problems": list(report.problems),
        "notes": list(report.notes),
    }


def _node(one: NodeReport) -> Object:
    return {
        "name": one.facts.name,
        "policy": _fact(one.policy),
        "scope": _fact(one.scope),
        "threadsPerCore": one.facts.width,
        "threadsPerCoreSource": one.width.source if one.width else None,
        "fullPcpusOnly": one.checked,
        "numa": list(one.numa),
        "numaSource": one.numa_source,
        "maxContainerCpus": one.facts.max_container,
        "maxPodCpus": one.facts.max_pod,
        "labels": [
            {"key": label.key, "value": label.value, "because": label.because}
            for label in one.labels
        ],
        "toLabel": list(one.to_label),
        "learnt": {
            "threadsPerCore": _witness(one.learnt.width),
            "topologyAffinity": _witness(one.learnt.strict),
        },
        "exclusiveCpus": {"pods": one.in_use.pods, "asked": one.in_use.cpus, "room": one.room},
        "roomSince": moment(one.room_since),
        "rejections": {
            "lastHour": sum(one.rejections.values()),
            "reasons": dict(one.rejections),
            "last": moment(one.last_rejection),
        },
        "problems": list(one.problems),
    }


def _fact(fact: Fact | None) -> Object | None:
    return None if fact is None else {"value": fact.value, "source": fact.source}


def _witness(witness: Witness | None) -> Object | None:
    if witness is None:
        return None
    return {"value": witness.width, "pod": witness.pod, "at": moment(witness.at)}
