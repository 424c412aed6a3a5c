"""The bodies of requests: objects as JSON, YAML or protobuf, patches by their content type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import yaml

from simulator.api import protobuf
from simulator.errors import bad_request, unsupported_media_type
from simulator.objects import encode
from simulator.patches.plain import json_patch, merge_patch
from simulator.patches.strategic import strategic_merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.api.http import Request
    from simulator.objects import Object

_OBJECTS: Final = ("application/json", "application/yaml", protobuf.MEDIA)
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
PATCHES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)


def media_type(request: Request) -> str:
    """Give the content type without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip()


def read_object(request: Request) -> Object:
    """Read an object; an empty body is an empty one. Raises 400 and 415."""
    media = media_type(request)
    if not request.body:
        return {}
    if media == protobuf.MEDIA:
        return protobuf.read(request.body)
    if media == "application/yaml":
        found = _yaml(request.body)
    elif media in ("", *_OBJECTS):
        found = _json(request.body)
    else:
        raise unsupported_media_type(media, _OBJECTS)
    if not isinstance(found, dict):
        raise bad_request("the body of the request is no object")
    return found


def read_applied(request: Request) -> Object:
    """Read the object of a server-side apply; it names its kind. Raises a 400."""
    found = _yaml(request.body)
    if not isinstance(found, dict) or not found.get("apiVersion") or not found.get("kind"):
        raise bad_request("an applied object needs apiVersion and kind")
    if not request.query.get("fieldManager"):
        raise bad_request("fieldManager is required for apply: say who applies")
    return found


def read_patch(request: Request) -> Callable[[Object], Object]:
    """Read a patch; returns what applies it. Raises 400 and 415."""
    media = media_type(request)
    if media not in PATCHES:
        raise unsupported_media_type(media, PATCHES)
    patch = _json(request.body)
    if media == JSON_PATCH:
        return lambda obj: json_patch(obj, patch)
    if not isinstance(patch, dict):
        raise bad_request("a merge patch is an object")
    if media == MERGE_PATCH:
        return lambda obj: merge_patch(obj, patch)
    return lambda obj: strategic_merge(obj, patch)


def _json(body: bytes) -> Any:  # noqa: ANN401  any JSON value
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"the body of the request is no JSON: {error}") from error


def _yaml(body: bytes) -> Any:  # noqa: ANN401  any YAML value
    """Read YAML; JSON is YAML, too, and what most clients send as such."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # then it is YAML, or nothing
    try:
        found = yaml.safe_load(body)
        encode(found)  # half a character, or a key that is no text, cannot be kept
    except (yaml.YAMLError, UnicodeError, TypeError, msgspec.EncodeError) as error:
        raise bad_request(f"the body of the request is no YAML: {error}") from error
    return found
