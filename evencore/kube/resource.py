"""Which objects to list and watch, as the API server's URL and headers say it.

For: path, selectors and the form of the answer.
Not for: what the objects are decoded into; that is `decoding`.
"""

from __future__ import annotations

from dataclasses import dataclass

_JSON = "application/json"
_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1,application/json"


@dataclass(frozen=True, slots=True)
class Resource:
    """A collection: cluster-wide (/api/v1/pods) or of a namespace (/api/v1/namespaces/x/pods)."""

    path: str
    label_selector: str = ""
    field_selector: str = ""
    metadata_only: bool = False
    """Ask for PartialObjectMetadata: for nodes and namespaces a fraction of the bytes.

    A server that cannot answers with the whole objects, whose metadata reads the same.
    """

    optional: bool = False
    """The server may not know it (a CRD): 404 then means that there is nothing, not that something
    is wrong."""

    def query(self) -> list[tuple[str, str]]:
        """Give the selectors as query parameters; the same for list and watch."""
        pairs = [("labelSelector", self.label_selector), ("fieldSelector", self.field_selector)]
        return [(name, value) for name, value in pairs if value]

    @property
    def list_accept(self) -> str:
        """The Accept header of a list."""
        if self.metadata_only:
            return _METADATA.format(kind="PartialObjectMetadataList")
        return _JSON

    @property
    def watch_accept(self) -> str:
        """The Accept header of a watch: its events carry single objects."""
        return _METADATA.format(kind="PartialObjectMetadata") if self.metadata_only else _JSON
