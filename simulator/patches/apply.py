"""Server-side apply: an object is merged into what is there, and fields have owners.

For: `kubectl apply --server-side` and clients that apply.
Not for: owners of fields that were written in another way; those belong to nobody here, so only
two who both apply can be in conflict.

Kubernetes rules: what a manager applied before and does not name any more goes, unless another
manager has it too; a field that another one has with another value is a conflict, unless forced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.errors import ApiError
from simulator.patches import fields
from simulator.patches.strategic import strategic_merge

if TYPE_CHECKING:
    from simulator.objects import Object
    from simulator.patches.fields import Path

_APPLY: Final = "Apply"


def apply(live: Object, applied: Object, manager: str, now: str, *, force: bool) -> Object:
    """Return `live` with `applied` merged in. Raises a 409 with every conflict."""
    wanted = fields.paths(applied)
    entries = (live.get("metadata") or {}).get("managedFields") or []
    owned = {one["manager"]: fields.from_v1(one["fieldsV1"]) for one in entries if _is_ours(one)}
    mine = owned.pop(manager, frozenset())
    disputed = {
        (path, other)
        for other, theirs in owned.items()
        for path in wanted & theirs
        if path[-1] != "." and fields.lookup(live, path) != fields.lookup(applied, path)
    }
    if disputed and not force:
        raise _conflict(sorted(disputed))
    merged: Object = strategic_merge(live, applied)
    gone = mine - wanted
    for theirs in owned.values():
        gone -= theirs
    merged = fields.without(merged, gone)
    lost = {path for path, _ in disputed}
    others = {name: theirs - lost for name, theirs in owned.items()}
    merged["metadata"] = {
        **(merged.get("metadata") or {}),
        "managedFields": _entries(entries, {**others, manager: wanted}, live, applied, now),
    }
    return merged


def _is_ours(entry: Object) -> bool:
    return entry.get("operation") == _APPLY and "subresource" not in entry


def _entries(
    before: list[Object],
    owned: dict[str, frozenset[Path]],
    live: Object,
    applied: Object,
    now: str,
) -> list[Object]:
    """Write managedFields; an entry that stays as it was keeps its time."""
    known = {one["manager"]: one for one in before if _is_ours(one)}
    written = []
    for name, found in owned.items():
        if not found:
            continue
        tree, old = fields.to_v1(found), known.get(name)
        if old is not None and old["fieldsV1"] == tree:
            written.append(old)
            continue
        version = applied.get("apiVersion") or live.get("apiVersion")
        written.append(
            {
                "manager": name,
                "operation": _APPLY,
                "apiVersion": version,
                "time": now,
                "fieldsType": "FieldsV1",
                "fieldsV1": tree,
            }
        )
    return written + [one for one in before if not _is_ours(one)]


def _conflict(disputed: list[tuple[Path, str]]) -> ApiError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{other}"',
            "field": _shown(path),
        }
        for path, other in disputed
    ]
    number = len(causes)
    said = "; ".join(f"{cause['message']}: {cause['field']}" for cause in causes)
    plural = "s" if number > 1 else ""
    text = f"Apply failed with {number} conflict{plural}: {said}"
    return ApiError(409, "Conflict", text, {"causes": causes})


def _shown(path: Path) -> str:
    parts = []
    for element in path:
        if element.startswith("k:{"):
            name, _, value = element[3:-1].partition(":")
            parts.append(f"[{name.strip(chr(34))}={value}]")
        else:
            parts.append(f".{element[2:]}")
    return "".join(parts)
