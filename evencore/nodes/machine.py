"""The report for machines. The keys are a promise: docs/nodes.md lists them."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from datetime import datetime

    from evencore.domain.learnt import Witness
    from evencore.nodes.report import Fact, NodeReport, Report

API_VERSION: Final = "evencore.io/v1"

Object = dict[str, Any]


def to_dict(report: Report) -> Object:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Nodes",
        "asOf": _time(report.now),
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
        "roomSince": _time(one.room_since),
        "rejections": {
            "lastHour": sum(one.rejections.values()),
            "reasons": dict(one.rejections),
            "last": _time(one.last_rejection),
        },
        "problems": list(one.problems),
    }


def _fact(fact: Fact | None) -> Object | None:
    return None if fact is None else {"value": fact.value, "source": fact.source}


def _witness(witness: Witness | None) -> Object | None:
    if witness is None:
        return None
    return {"value": witness.width, "pod": witness.pod, "at": _time(witness.at)}


def _time(at: datetime | None) -> str | None:
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
