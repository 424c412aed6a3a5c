"""The report for machines. The keys are a promise: docs/rejections.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore.machine import API_VERSION, Object, moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evencore.rejections.listing import RejectedPod
    from evencore.rejections.report import OwnerReport, Report


def to_dict(report: Report) -> Object:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Rejections",
        "asOf": moment(report.now),
        "owners": [_owner(one) for one in report.owners],
        "manual": [pod_to_dict(pod) for pod in report.manual],
        "notes": list(report.notes),
    }


def pods_to_dict(pods: Sequence[RejectedPod], now: datetime) -> Object:
    """Return the rejected pods one by one."""
    return {
        "apiVersion": API_VERSION,
        "kind": "RejectedPods",
        "asOf": moment(now),
        "pods": [pod_to_dict(pod) for pod in pods],
    }


def pod_to_dict(pod: RejectedPod) -> Object:
    """Return one rejected pod."""
    return {
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "node": pod.node or None,
        "reason": pod.reason,
        "owner": pod.owner or None,
        "at": moment(pod.at),
        "kept": pod.kept,
        "action": pod.action,
    }


def _owner(one: OwnerReport) -> Object:
    flock = one.prospect.flock
    return {
        "apiVersion": one.owner.api_version,
        "kind": one.owner.kind,
        "namespace": one.owner.namespace,
        "name": one.owner.name,
        "uid": one.owner.uid or None,
        "state": one.state,
        "takesPart": one.prospect.takes_part,
        "rejections": one.rejections,
        "fromEvents": one.from_events,
        "since": moment(one.since),
        "last": moment(one.last),
        "nodes": dict(one.nodes),
        "reasons": dict(one.reasons),
        "excluded": [
            {
                "node": e.node,
                "until": moment(e.until),
                "reason": e.reason,
                "rejections": e.rejections,
            }
            for e in one.prospect.excluded
        ],
        "held": len(flock.held),
        "letGo": flock.in_flight,
        "waiting": one.prospect.waiting,
        "running": len(flock.admitted),
        "cleaned": one.cleaned,
        "next": one.prospect.sentence,
        "nextAt": moment(one.prospect.when),
    }
