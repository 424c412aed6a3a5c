"""The two patches that know nothing of Kubernetes: JSON Patch and JSON Merge Patch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import jsonpatch

from simulator.errors import ApiError, bad_request
from simulator.objects import copy

if TYPE_CHECKING:
    from simulator.objects import Object


_OBJECT: Final = re.compile(r" in [\[{].*", re.DOTALL)


def json_patch(obj: Object, operations: object) -> Object:
    """Apply a JSON Patch (RFC 6902); `obj` stays as it is. Raises 400 for no patch, 422."""
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    try:
        # On a copy of our own: the library would copy five times as slowly.
        patched: Object = jsonpatch.JsonPatch(operations).apply(copy(obj), in_place=True)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        # The library shows the whole object in which it has not found something.
        text = f"the patch cannot be applied: {_OBJECT.sub('', str(error))}"
        raise ApiError(422, "Invalid", text) from error
    except (TypeError, AttributeError, KeyError) as error:
        # What the library raises where an operation walks into a value of another type.
        text = f"the patch does not fit the object: {type(error).__name__} {error}"
        raise ApiError(422, "Invalid", text) from error
    if not isinstance(patched, dict):
        raise ApiError(422, "Invalid", "the patch leaves no object")
    return patched


def merge_patch(value: Any, patch: Any) -> Any:  # noqa: ANN401  any JSON value
    """Apply a JSON Merge Patch (RFC 7386): maps are merged, null removes, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for key, new in patch.items():
        if new is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), new)
    return merged
