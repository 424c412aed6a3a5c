"""The tables of namespaces and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import dig
from simulator.printing.cells import AGE, NAME, Column, Printer, age_of, since

if TYPE_CHECKING:
    from simulator.objects import Object


def _namespace(obj: Object, now: float) -> list[Any]:
    return [obj["metadata"].get("name", ""), dig(obj, "status", "phase") or "", age_of(obj, now)]


def _event(obj: Object, now: float) -> list[Any]:
    """Kubernetes rule (printEvent): a series counts for itself, eventTime stands in for times."""
    involved, series = obj.get("involvedObject") or {}, obj.get("series") or {}
    first = since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    newest = series.get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("eventTime")
    last = since(newest, now)
    count = series.get("count") or obj.get("count") or 1
    subject = f"{str(involved.get('kind', '')).lower()}/{involved.get('name', '')}"
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return [
        f"{last} (x{count} over {first})" if count > 1 else last,
        obj.get("type", ""),
        obj.get("reason", ""),
        subject,
        involved.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        (obj.get("message") or "").strip(),
        first,
        count,
        obj["metadata"].get("name", ""),
    ]


PRINTERS: Final = {
    "namespaces": Printer((NAME, Column("Status"), AGE), _namespace),
    "events": Printer(
        (
            Column("Last Seen"),
            Column("Type"),
            Column("Reason"),
            Column("Object"),
            Column("Subobject", priority=1),
            Column("Source", priority=1),
            Column("Message"),
            Column("First Seen", priority=1),
            Column("Count", type="integer", priority=1),
            Column("Name", priority=1, format="name"),
        ),
        _event,
    ),
}
