"""The strategic merge patch: a merge patch that knows which lists are sets of named items.

Kubernetes rules (apimachinery, util/strategicpatch): lists with a merge key are merged item by
item, a few lists of plain values are merged as sets, all others are replaced. Directives:
`$patch: delete|replace|merge`, `$deleteFromPrimitiveList/x`, `$setElementOrder/x`, `$retainKeys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.errors import bad_request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object

# Field name → merge key, from the patchMergeKey of k8s.io/api's types. By name alone, since within
# the kinds that are served no field of that name is merged in one place and replaced in another.
MERGE_KEYS: Final = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
# Merged as sets; spec.finalizers of a namespace is not, hence the parent.
_SETS: Final = frozenset((("metadata", "finalizers"), ("spec", "podCIDRs")))

_DIRECTIVE: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_DELETE: Final = "$deleteFromPrimitiveList/"
_ORDER: Final = "$setElementOrder/"


def merge_key(field: str, items: Iterable[Any]) -> str | None:
    """Give the key by which the items of a list are known; None: the list is one value.

    Two kinds of things have ports: containers by containerPort, and Services.
    """
    if field == "ports" and any(isinstance(one, dict) and "port" in one for one in items):
        return "port"
    return MERGE_KEYS.get(field)


def strategic_merge(obj: Object, patch: Object) -> Object:
    """Apply a strategic merge patch; `obj` stays as it is. Raises a 400 for a wrong patch."""
    try:
        return _merge(obj, patch, "")
    except (TypeError, AttributeError) as error:
        # A directive or an item of another type than it must have; all of it is the client's.
        raise bad_request(f"the strategic merge patch cannot be read: {error}") from error


def _merge(obj: Object, patch: Object, parent: str) -> Object:
    asked = patch.get(_DIRECTIVE)
    if asked == "delete":
        return {}
    base = {} if asked == "replace" else obj
    retained = patch.get(_RETAIN)
    merged = {k: v for k, v in base.items() if retained is None or k in retained}
    for key, new in patch.items():
        if key.startswith(_DELETE):
            field = key.removeprefix(_DELETE)
            merged[field] = [one for one in merged.get(field) or () if one not in new]
    for key, new in patch.items():
        if key.startswith("$"):
            continue
        if new is None:
            merged.pop(key, None)
        else:
            order = patch.get(_ORDER + key)
            merged[key] = _merged(key, merged.get(key), new, order, parent)
    for directive, order in patch.items():
        field = directive.removeprefix(_ORDER)
        if directive.startswith(_ORDER) and field not in patch and field in merged:
            name = merge_key(field, merged[field])
            merged[field] = _ordered(merged[field], merged[field], order, name)
    return merged


def _merged(key: str, old: Any, new: Any, order: Any, parent: str) -> Any:  # noqa: ANN401  any JSON value
    if isinstance(new, dict):
        return _merge(old if isinstance(old, dict) else {}, new, key)
    if not isinstance(new, list):
        return new
    have = old if isinstance(old, list) else []
    if name := merge_key(key, [*have, *new]):
        merged = _merge_items(key, name, have, new)
        return _ordered(have, merged, order, name) if order else merged
    if (parent, key) in _SETS:
        merged = [*have, *(one for one in new if one not in have)]
        return _ordered(have, merged, order, None) if order else merged
    return new


def _merge_items(field: str, key: str, have: list[Any], patch: list[Any]) -> list[Any]:
    if any(item.get(_DIRECTIVE) == "replace" and key not in item for item in patch):
        return [item for item in patch if _DIRECTIVE not in item]
    merged = list(have)
    for item in patch:
        if key not in item:
            raise bad_request(f"the patch of {field} has an item without its merge key {key}")
        places = [place for place, one in enumerate(merged) if one.get(key) == item[key]]
        if item.get(_DIRECTIVE) == "delete":
            merged = [one for one in merged if one.get(key) != item[key]]
        elif places:
            merged[places[0]] = _merge(merged[places[0]], item, field)
        else:
            merged.append(_merge({}, item, field))
    return merged


def _ordered(before: list[Any], items: list[Any], order: list[Any], key: str | None) -> list[Any]:
    """Put the items that `order` names in its order; the others keep their place among them.

    Kubernetes rule: an item that the patch does not name stays before the first named one that
    came after it on the server.
    """

    def name(item: Any) -> Any:  # noqa: ANN401  any JSON value
        return item.get(key) if key and isinstance(item, dict) else item

    wanted = [name(one) for one in order]
    place = {repr(name(one)): number for number, one in enumerate(before)}
    named = sorted(
        (one for one in items if name(one) in wanted), key=lambda one: wanted.index(name(one))
    )
    others = [one for one in items if name(one) not in wanted]
    result = []
    for one in named:
        mine = place.get(repr(name(one)))
        while others and mine is not None and place.get(repr(name(others[0])), mine) < mine:
            result.append(others.pop(0))
        result.append(one)
    return result + others
