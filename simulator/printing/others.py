"""The tables of the kinds with one or two facts each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.objects import dig
from simulator.printing.cells import AGE, NAME, Column, Printer, age_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object

_CREATED: Final = Column("Created At", format="date-time")


def _with(*facts: Callable[[Object], Any]) -> Callable[[Object, float], list[Any]]:
    """Make the cells: the name, the facts, the age."""

    def cells(obj: Object, now: float) -> list[Any]:
        name = obj["metadata"].get("name", "")
        return [name, *(fact(obj) for fact in facts), age_of(obj, now)]

    return cells


def _created(obj: Object, now: float) -> list[Any]:  # noqa: ARG001  one shape for all cells
    metadata = obj["metadata"]
    return [metadata.get("name", ""), metadata.get("creationTimestamp")]


def _role(obj: Object) -> str:
    return f"{dig(obj, 'roleRef', 'kind')}/{dig(obj, 'roleRef', 'name')}"


def _amounts(part: str) -> Callable[[Object], str]:
    """Write used/hard of a quota for requests (all but limits) or for limits."""

    def text(obj: Object) -> str:
        hard, used = dig(obj, "status", "hard") or {}, dig(obj, "status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is (part == "limits")]
        return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)

    return text


_RBAC: Final = "rbac.authorization.k8s.io"

PRINTERS: Final = {
    "configmaps": Printer((NAME, Column("Data"), AGE), _with(lambda o: len(o.get("data") or ()))),
    "secrets": Printer(
        (NAME, Column("Type"), Column("Data"), AGE),
        _with(lambda o: o.get("type", "Opaque"), lambda o: len(o.get("data") or ())),
    ),
    "leases.coordination.k8s.io": Printer(
        (NAME, Column("Holder"), AGE), _with(lambda o: dig(o, "spec", "holderIdentity") or "")
    ),
    "priorityclasses.scheduling.k8s.io": Printer(
        (NAME, Column("Value"), Column("Global-Default"), AGE, Column("PreemptionPolicy")),
        lambda o, now: [
            *_with(lambda o: o.get("value", 0), lambda o: o.get("globalDefault", False))(o, now),
            o.get("preemptionPolicy", "PreemptLowerPriority"),
        ],
    ),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": Printer(
        (NAME, Column("Webhooks"), AGE), _with(lambda o: len(o.get("webhooks") or ()))
    ),
    "resourcequotas": Printer(
        (NAME, Column("Request"), Column("Limit"), AGE),
        _with(_amounts("requests"), _amounts("limits")),
    ),
    "limitranges": Printer((NAME, _CREATED), _created),
    f"roles.{_RBAC}": Printer((NAME, _CREATED), _created),
    f"clusterroles.{_RBAC}": Printer((NAME, _CREATED), _created),
    f"rolebindings.{_RBAC}": Printer((NAME, Column("Role"), AGE), _with(_role)),
    f"clusterrolebindings.{_RBAC}": Printer((NAME, Column("Role"), AGE), _with(_role)),
}
