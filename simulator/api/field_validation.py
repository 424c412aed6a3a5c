"""`fieldValidation`: what becomes of fields that a kind does not have, or that are there twice.

For: refusing them (Strict), warning of them (Warn, the default) or saying nothing (Ignore); they
are left out in any case, for nothing of Kubernetes could keep them.
Not for: finding them; that is `rules.known_fields`.

Kubernetes: create.go, update.go and patch.go of apiserver/pkg/endpoints/handlers, whose refusals
of one and the same fault are a 400, a 422 and, for server-side apply, a 500.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulator.api import bodies
from simulator.errors import ApiError, bad_request
from simulator.objects import encode
from simulator.rules import faults
from simulator.rules.known_fields import Kinds, pruned, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.api.http import Request
    from simulator.api.writes import Call
    from simulator.objects import Object
    from simulator.resources import Resource

OPTION: Final = "fieldValidation"
_STRICT, _WARN = "Strict", "Warn"
_DIRECTIVES: Final = ("Ignore", _STRICT, _WARN)


def directive(request: Request, options: str) -> str:
    """Read the parameter; empty if it is not there. `options` is their kind. Raises a 422."""
    given = request.query.get(OPTION, "")
    if given and given not in _DIRECTIVES:
        cause = faults.unsupported(OPTION, given, _DIRECTIVES)
        text = f'{options}.meta.k8s.io "" is invalid: {OPTION}: {cause.message}'
        raise ApiError(422, "Invalid", text, {"group": "meta.k8s.io", "kind": options})
    return given


class FieldValidation:
    """Checks what clients send."""

    def __init__(self) -> None:
        self._kinds = Kinds()

    def whole(self, request: Request, resource: Resource, obj: Object, call: Call) -> Object:
        """Check an object that was sent whole. Raises a 400."""
        found, kept = self._checked(request, resource, obj)
        if found and _wish(call) == _STRICT:
            raise bad_request(
                f'{resource.kind} in version "{resource.version}" cannot be handled as a '
                f"{resource.kind}: {_strictly(found)}"
            )
        _warn(call, found)
        return kept

    def patched(self, request: Request, resource: Resource, obj: Object, call: Call) -> Object:
        """Check what a patch has made. Raises a 422."""
        found, kept = self._checked(request, resource, obj)
        if found and _wish(call) == _STRICT:
            strategic = bodies.media_type(request) == bodies.STRATEGIC
            shown = go_text(json.loads(request.body)) if strategic else encode(obj).decode()
            cause = faults.invalid("patch", shown, _strictly(found))
            told = cause._asdict()
            text = f' "" is invalid: patch: {cause.message}'
            raise ApiError(422, "Invalid", text, {"causes": [told]})
        _warn(call, found)
        return kept

    def applied(self, resource: Resource, given: Object) -> None:
        """Check an object that is applied: strictly, whatever was wished for. Raises a 500."""
        found = unknown(self._known(resource), given)
        if found:
            metadata = given.get("metadata") or {}
            named = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
            typed = f"{resource.group}/{resource.version}, Kind={resource.kind}"
            texts = [f".{place}: field not declared in schema" for place in found]
            why = texts[0] if len(texts) == 1 else "\n  ".join(["errors:", *texts])
            text = f"failed to create typed patch object ({named}; {typed}): {why}"
            raise ApiError(500, "", text)

    def _checked(
        self, request: Request, resource: Resource, obj: Object
    ) -> tuple[list[str], Object]:
        known = self._known(resource)
        found = unknown(known, obj)
        texts = [f'unknown field "{place}"' for place in found]
        # Kubernetes rule: of a field that is unknown and there twice, only the first is told.
        twice = [place for place in duplicates(request.body) if place not in found]
        texts += [f'duplicate field "{place}"' for place in twice]
        return texts, pruned(known, obj) if found else obj

    def _known(self, resource: Resource) -> Any:  # noqa: ANN401  whatever `unknown` takes
        return self._kinds.of(resource.group, resource.version, resource.kind)


def duplicates(body: bytes) -> Iterator[str]:
    """Tell the places of the fields that a JSON document has twice."""
    try:
        # A document that comes out as it went in has lost no field; most do.
        if msgspec.json.format(body, indent=-1) == encode(msgspec.json.decode(body)):
            return
        yield from _twice(json.loads(body, object_pairs_hook=_Pairs), "")
    except (ValueError, RecursionError):
        return  # YAML or protobuf: neither can tell, or has none


class _Pairs(tuple[tuple[str, Any], ...]):
    """A map as it was written."""

    __slots__ = ()


def _twice(value: Any, at: str) -> Iterator[str]:  # noqa: ANN401  any JSON value
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _twice(one, f"{at}[{number}]")
    elif isinstance(value, _Pairs):
        seen = set()
        for key, one in value:
            place = f"{at}.{key}" if at else key
            if key in seen:
                yield place
            seen.add(key)
            yield from _twice(one, place)


def go_text(value: Any) -> str:  # noqa: ANN401  any JSON value
    """Write a value as Go prints maps and slices, for texts that contain one."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wish(call: Call) -> str:
    wish: str = call.options.get(OPTION, _WARN)
    return wish


def _strictly(found: list[str]) -> str:
    return f"strict decoding error: {', '.join(found)}"


def _warn(call: Call, found: list[str]) -> None:
    if _wish(call) == _WARN:
        call.warnings.extend(found)
