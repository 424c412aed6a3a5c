"""A view that is decoded together with its object's version, and taken apart again.

The version changes with every heartbeat of a node; a view that had it would differ each time.
Decoding a line a second time for it would be a tenth of what an event costs.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct, defstruct, field
from msgspec.structs import fields

if TYPE_CHECKING:
    from collections.abc import Callable


class Versioned:
    """`view` with the version of its object, as a type to decode into.

    `view` has a `metadata` that is a Struct, or may be none; neither has a resourceVersion.
    """

    def __init__(self, view: type[Struct]) -> None:
        told = next(one.type for one in fields(view) if one.name == "metadata")
        metadata: type[Struct] = next(iter(get_args(told)), told)
        version = ("resource_version", str | None, field(default=None, name="resourceVersion"))
        more = defstruct(metadata.__name__, [version], bases=(metadata,), frozen=True, gc=False)
        self.type: type[Struct] = defstruct(
            view.__name__, [("metadata", more | None, None)], bases=(view,), frozen=True, gc=False
        )
        self._view, self._metadata = view, metadata
        self._of_metadata = _getter(metadata.__struct_fields__)
        self._rest = tuple(name for name in view.__struct_fields__ if name != "metadata")
        self._of_rest = _getter(self._rest)

    def apart(self, decoded: Any) -> tuple[Any, str]:  # noqa: ANN401  of `type`, which is made here
        """Return the view, and the version or ''. Raises ValueError if there is no metadata."""
        found = decoded.metadata
        if found is None:
            raise ValueError("no metadata")
        metadata = self._metadata(*self._of_metadata(found))
        rest = dict(zip(self._rest, self._of_rest(decoded), strict=True))
        return self._view(metadata=metadata, **rest), found.resource_version or ""


def _getter(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Return what gets all these attributes of an object, however many there are."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda obj: tuple(getattr(obj, name) for name in names)
