"""What the doctor says, for machines. Keys and ids are a promise: docs/doctor.md lists them."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evencore.doctor.report import Report

API_VERSION: Final = "evencore.io/v1"
_STATUS: Final = ("healthy", "findings", "unknown")


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as what JSON can hold. Keys are always there, null or empty if nothing."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Diagnosis",
        "asOf": report.now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
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
