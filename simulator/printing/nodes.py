"""The table of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import dig
from simulator.printing.cells import AGE, NAME, NONE, UNKNOWN, Column, Printer, age_of, wide

if TYPE_CHECKING:
    from simulator.objects import Object

_ROLE: Final = "node-role.kubernetes.io/"


def _cells(node: Object, now: float) -> list[Any]:
    info = dig(node, "status", "nodeInfo") or {}
    return [
        node["metadata"].get("name", ""),
        _status(node),
        _roles(node["metadata"].get("labels") or {}),
        age_of(node, now),
        info.get("kubeletVersion", ""),
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        info.get("kernelVersion") or UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _status(node: Object) -> str:
    found = [
        "Ready" if one["status"] == "True" else "NotReady"
        for one in dig(node, "status", "conditions") or ()
        if one["type"] == "Ready"
    ] or ["Unknown"]
    if dig(node, "spec", "unschedulable"):
        found.append("SchedulingDisabled")
    return ",".join(found)


def _roles(labels: dict[str, str]) -> str:
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)} - {""}
    if labels.get("kubernetes.io/role"):
        roles.add(labels["kubernetes.io/role"])
    return ",".join(sorted(roles)) or NONE


def _address(node: Object, kind: str) -> str:
    addresses = dig(node, "status", "addresses") or ()
    return next((one["address"] for one in addresses if one["type"] == kind), NONE)


PRINTERS: Final = {
    "nodes": Printer(
        (
            NAME,
            Column("Status"),
            Column("Roles"),
            AGE,
            Column("Version"),
            *wide("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
        ),
        _cells,
    )
}
