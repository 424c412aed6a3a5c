"""What the doctor says, for machines. Keys and ids are a promise: docs/doctor.md lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.machine import API_VERSION, Object, moment

if TYPE_CHECKING:
    from evencore.doctor.report import Report

_STATUS: Final = ("healthy", "findings", "unknown")


def to_dict(report: Report) -> Object:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Diagnosis",
        "asOf": moment(report.now),
        "status": _STATUS[report.status],
        "checks": report.checked,
        "webhookCalled": report.called,
        "namespaces": list(report.participants),
        "findings": [
            {
                "id": finding.id,
                "severity": finding.severity.value,
                "object": finding.object,
                "text": finding.text,
                "remedy": finding.remedy,
            }
            for finding in report.findings
        ],
    }
