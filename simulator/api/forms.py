"""The form of an answer: objects whole, their metadata only, or rows of a table.

For: choosing by the Accept header, and writing one object or a list as bytes.
Not for: which columns a table has; that is `printing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from simulator import versions
from simulator.errors import not_acceptable
from simulator.objects import encode
from simulator.printing import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.store.table import Record

_META: Final = "meta.k8s.io"
_JSON: Final = ("application/json", "application/*", "*/*")


class Form(Protocol):
    """How objects are written."""

    def one(self, resource: Resource, record: Record) -> bytes:
        """Write a single object."""

    def many(self, resource: Resource, records: Iterable[Record], metadata: Object) -> bytes:
        """Write a list."""


class Whole:
    """Objects as they are."""

    def one(self, resource: Resource, record: Record) -> bytes:
        """Write a single object."""
        typed = f'{{"kind":"{resource.kind}","apiVersion":"{resource.api_version}",'
        return typed.encode() + self._bare(resource, record)[1:]

    def many(self, resource: Resource, records: Iterable[Record], metadata: Object) -> bytes:
        """Write a list; its items have no kind of their own, as the API server's have not."""
        typed = f'{{"kind":"{resource.kind}List","apiVersion":"{resource.api_version}","metadata":'
        items = b",".join([self._bare(resource, record) for record in records])
        return typed.encode() + encode(metadata) + b',"items":[' + items + b"]}"

    def _bare(self, resource: Resource, record: Record) -> bytes:
        if versions.same_shape(resource):
            return record.bare()
        obj = versions.outgoing(resource, record.object)
        return encode({k: v for k, v in obj.items() if k not in ("kind", "apiVersion")})


class MetadataOnly:
    """PartialObjectMetadata."""

    def one(self, resource: Resource, record: Record) -> bytes:  # noqa: ARG002  every kind the same
        """Write a single object."""
        return encode(table.partial(record.object))

    def many(self, resource: Resource, records: Iterable[Record], metadata: Object) -> bytes:  # noqa: ARG002  same
        """Write a list."""
        return encode(
            {
                "kind": "PartialObjectMetadataList",
                "apiVersion": f"{_META}/v1",
                "metadata": metadata,
                "items": [{"metadata": record.object["metadata"]} for record in records],
            }
        )


class AsTable:
    """Rows for people, as `kubectl get` shows them."""

    def __init__(self, include: str, now: float) -> None:
        self._include, self._now = include, now

    def one(self, resource: Resource, record: Record) -> bytes:
        """Write a single object, as a table of one row."""
        version = record.object["metadata"].get("resourceVersion", "")
        return self.many(resource, (record,), {"resourceVersion": version})

    def many(self, resource: Resource, records: Iterable[Record], metadata: Object) -> bytes:
        """Write a list."""
        rows = table.rows(resource, (one.object for one in records), self._include, self._now)
        columns = table.columns(resource)
        return encode(
            {
                "kind": "Table",
                "apiVersion": f"{_META}/v1",
                "metadata": metadata,
                "columnDefinitions": columns,
                "rows": rows,
            }
        )


def reads_json(accept: str) -> bool:
    """Tell whether a client takes JSON in any form."""
    return not accept or any(part.partition(";")[0].strip() in _JSON for part in accept.split(","))


def choose(accept: str, include: str, now: float) -> Form:
    """Take the first form of an Accept header that we can write. Raises a 406."""
    for part in accept.split(",") if accept else ("*/*",):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        if media not in _JSON:
            continue
        wanted = dict(piece.partition("=")[::2] for piece in parameters)
        as_ = wanted.get("as", "")
        if not as_:
            return Whole()
        if wanted.get("g") != _META or wanted.get("v") != "v1":
            continue
        if as_.startswith("PartialObjectMetadata"):
            return MetadataOnly()
        if as_ == "Table":
            return AsTable(include or "Metadata", now)
    raise not_acceptable(["application/json"])
