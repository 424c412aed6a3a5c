"""Objects of any shape, as JSON and YAML have them, and where they stood.

Nothing here raises, nothing recurses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]


class Source(NamedTuple):
    """Where a document was read."""

    file: str
    document: int = 1  # counts from 1
    line: int = 1  # where it begins
    only: bool = True  # the file holds no other document

    def __str__(self) -> str:
        """Write the place as people look for it."""
        if self.only:
            return self.file
        return f"{self.file}, document {self.document}, line {self.line}"


def items_of(value: object) -> Iterator[Any]:
    """Yield what a document holds, in its order: itself, or what its lists hold, nested ones too.

    What is no object comes out as it is.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += reversed(one)
            continue
        kind = one.get("kind") if isinstance(one, dict) else None
        items = one.get("items") if isinstance(one, dict) else None
        if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
            # The items of a typed list (DeploymentList) need not repeat their kind.
            inner = {"kind": kind.removesuffix("List")} if kind != "List" else {}
            waiting += [inner | i if isinstance(i, dict) else i for i in reversed(items)]
        else:
            yield one


def map_at(value: object, key: str) -> Object:
    """Return the map that an object has under a key; {} if it has none there."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def maps_at(value: object, key: str) -> list[Object]:
    """Return the maps of the list that an object has under a key; [] if it has none there."""
    inner = value.get(key) if isinstance(value, dict) else None
    return [one for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []


def text_at(value: object, key: str) -> str:
    """Return the text that an object has under a key; "" if it has none there."""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
