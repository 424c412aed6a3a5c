r"""Which fields of an object somebody has set: the sets behind metadata.managedFields.

Kubernetes rules (structured-merge-diff): a field is a path of map keys and, within lists of
named items, of the items' names; lists without names are one field as a whole. Written as
FieldsV1: {"f:spec": {"f:containers": {"k:{\\"name\\":\\"app\\"}": {".": {}, "f:image": {}}}}}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.objects import encode
from simulator.patches.strategic import merge_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.objects import Object

Path = tuple[str, ...]
"""Elements as FieldsV1 writes them: f:name, k:{"name":"app"}; the last of an item is "."."""


def paths(obj: Object) -> frozenset[Path]:
    """Give every field that an applied object sets; its identity is nobody's."""
    content = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind", "metadata")}
    identity = ("name", "namespace", "managedFields", "uid", "resourceVersion", "generation")
    metadata = {k: v for k, v in (obj.get("metadata") or {}).items() if k not in identity}
    if metadata:
        content["metadata"] = metadata
    return frozenset(_walk(content, ()))


def _walk(value: Any, at: Path) -> Iterator[Path]:  # noqa: ANN401  any JSON value
    if isinstance(value, dict) and (value or not at):
        for key, inner in value.items():
            yield from _walk(inner, (*at, f"f:{key}"))
        return
    key = merge_key(at[-1].removeprefix("f:"), value) if isinstance(value, list) else None
    if key is None or not all(isinstance(item, dict) and key in item for item in value):
        yield at
        return
    for item in value:
        here = (*at, item_name(key, item))
        yield (*here, ".")
        yield from _walk(item, here)


def item_name(key: str, item: Object) -> str:
    """Write the path element of a named item."""
    return f"k:{encode({key: item[key]}).decode()}"


def lookup(obj: Any, path: Path) -> Any:  # noqa: ANN401  any JSON value
    """Follow a path; None where it leads nowhere."""
    for number, element in enumerate(path):
        if element == ".":
            return obj
        if element.startswith("f:"):
            obj = obj.get(element[2:]) if isinstance(obj, dict) else None
        else:
            items = obj if isinstance(obj, list) else []
            key = merge_key(path[number - 1][2:], items) or ""
            obj = next(
                (one for one in items if key in one and item_name(key, one) == element), None
            )
    return obj


def without(value: Any, gone: frozenset[Path], at: Path = ()) -> Any:  # noqa: ANN401  any JSON value
    """Return a value without some fields; what they leave empty goes with them."""
    if isinstance(value, dict):
        kept = {}
        for key, inner in value.items():
            here = (*at, f"f:{key}")
            if here in gone:
                continue
            left = without(inner, gone, here)
            if left or not inner or not _touches(gone, here):
                kept[key] = left
        return kept
    key = merge_key(at[-1].removeprefix("f:"), value) if at and isinstance(value, list) else None
    if key is None:
        return value
    items = []
    for item in value:
        here = (*at, item_name(key, item)) if key in item else at
        if (*here, ".") not in gone:
            items.append(without(item, gone, here))
    return items


def _touches(gone: frozenset[Path], at: Path) -> bool:
    return any(path[: len(at)] == at for path in gone)


def to_v1(found: frozenset[Path]) -> Object:
    """Write a set as FieldsV1."""
    tree: Object = {}
    for path in sorted(found):
        node = tree
        for element in path:
            node = node.setdefault(element, {})
    return tree


def from_v1(tree: Object, at: Path = ()) -> frozenset[Path]:
    """Read FieldsV1."""
    found: set[Path] = set()
    for element, inner in tree.items():
        here = (*at, element)
        found |= from_v1(inner, here) if inner else {here}
    return frozenset(found)
