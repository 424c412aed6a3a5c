"""The table of Services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.printing.cells import AGE, NAME, NONE, Column, Printer, age_of, map_text, wide

if TYPE_CHECKING:
    from simulator.objects import Object


def _external(spec: Object) -> str:
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    if spec.get("type") == "LoadBalancer" and not spec.get("externalIPs"):
        return "<pending>"  # there is nobody here who could give it one
    return ",".join(spec.get("externalIPs") or ()) or NONE


def _port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{port.get('protocol')}"


def _cells(obj: Object, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        obj["metadata"].get("name", ""),
        spec.get("type", ""),
        spec.get("clusterIP") or NONE,
        _external(spec),
        ",".join(map(_port, spec.get("ports") or ())) or NONE,
        age_of(obj, now),
        map_text(spec.get("selector")),
    ]


_FACTS: Final = ("Type", "Cluster-IP", "External-IP", "Port(s)")
PRINTERS: Final = {
    "services": Printer((NAME, *map(Column, _FACTS), AGE, *wide("Selector")), _cells)
}
