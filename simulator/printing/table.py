"""Rows and columns of a Table answer, and PartialObjectMetadata.

For: putting the cells of a kind together with what every table has.
Not for: what the cells say; each kind's file does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.printing import cluster, nodes, others, pods, services, workloads
from simulator.printing.cells import Column, Printer, age_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.resources import Resource

_PRINTERS: Final[dict[str, Printer]] = {
    **pods.PRINTERS,
    **nodes.PRINTERS,
    **workloads.PRINTERS,
    **cluster.PRINTERS,
    **services.PRINTERS,
    **others.PRINTERS,
}
_PLAIN: Final = Printer(
    (Column("Name", format="name"), Column("Age")),
    lambda obj, now: [obj["metadata"].get("name", ""), age_of(obj, now)],
)


def columns(resource: Resource) -> list[Object]:
    """Describe the columns."""
    return [column.definition() for column in _printer(resource).columns]


def rows(resource: Resource, objects: Iterable[Object], include: str, now: float) -> list[Object]:
    """Make a row of each object; `include` says how much of it goes with the row."""
    cells = _printer(resource).cells
    return [{"cells": cells(obj, now), "object": _included(obj, include)} for obj in objects]


def partial(obj: Object) -> Object:
    """Give only the metadata."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


def _printer(resource: Resource) -> Printer:
    return _PRINTERS.get(resource.storage, _PLAIN)


def _included(obj: Object, include: str) -> Object | None:
    if include == "None":
        return None
    return obj if include == "Object" else partial(obj)
