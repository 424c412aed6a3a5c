"""Objects as plain dicts, and the few things that everything does with them.

An object in the store is never changed: whoever wants another one makes a copy first.
"""

from __future__ import annotations

from typing import Any

import msgspec

Object = dict[str, Any]
Key = tuple[str, str]
"""Namespace (empty for what is cluster-wide) and name."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()
encode = _encoder.encode


def copy(obj: Object) -> Object:
    """Copy an object in depth; through JSON, which is ten times as fast as copy.deepcopy."""
    copied: Object = _decoder.decode(_encoder.encode(obj))
    return copied


def without_nulls(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """Drop the keys of maps whose value is null: for an API server they are not there."""
    # What has no null in its JSON has none to drop; to look there is ten times as quick.
    return _dropped(value) if b"null" in encode(value) else value


def _dropped(value: Any) -> Any:  # noqa: ANN401  any JSON value
    if isinstance(value, dict):
        return {key: _dropped(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_dropped(inner) for inner in value]
    return value


def key_of(obj: Object) -> Key:
    """Give the key of an object."""
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def dig(obj: Any, *path: str) -> Any:  # noqa: ANN401  any JSON value
    """Follow keys down to a value; None where something on the way is missing or no map."""
    for part in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(part)
    return obj


def controller_of(obj: Object) -> Object | None:
    """Give the ownerReference of the controller, if there is one."""
    for reference in dig(obj, "metadata", "ownerReferences") or ():
        if reference.get("controller"):
            found: Object = reference
            return found
    return None
