"""The parameters of lists and watches that exclude each other, and the numbers among them.

Kubernetes rules: ValidateListOptions of k8s.io/apimachinery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.auth.asked import is_set
from simulator.errors import ApiError, bad_request
from simulator.rules import faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.errors import Cause

EXACT: Final = "Exact"
_NOT_OLDER: Final = "NotOlderThan"
_MATCH, _INITIAL = "resourceVersionMatch", "sendInitialEvents"
_NUMBERS: Final = ("limit", "timeoutSeconds")


def check(query: Mapping[str, str]) -> None:
    """Check the parameters of a list or a watch. Raises 400 and 422."""
    for name in _NUMBERS:
        if query.get(name) and not query[name].lstrip("-").isdecimal():
            raise bad_request(f"{name}={query[name]} is no number")
    if query.get("continue") and query.get("resourceVersion", "0") not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    found = list((_of_watch if is_set(query, "watch") else _of_list)(query))
    if found:
        told = ", ".join(f"{one.field}: {one.message}" for one in found)
        details = {
            "group": "meta.k8s.io",
            "kind": "ListOptions",
            "causes": [one._asdict() for one in found],
        }
        told = told if len(found) == 1 else f"[{told}]"
        raise ApiError(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {told}', details)


def _of_list(query: Mapping[str, str]) -> Iterator[Cause]:
    match, version = query.get(_MATCH), query.get("resourceVersion")
    if match:
        if not version:
            why = f"{_MATCH} is forbidden unless resourceVersion is provided"
            yield faults.forbidden(_MATCH, why)
        if query.get("continue"):
            yield faults.forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided")
        if match not in (EXACT, _NOT_OLDER):
            yield faults.unsupported(_MATCH, match, (EXACT, _NOT_OLDER, ""))
        if match == EXACT and version == "0":
            why = f'{_MATCH} "exact" is forbidden for resourceVersion "0"'
            yield faults.forbidden(_MATCH, why)
    if _INITIAL in query:
        yield faults.forbidden(_INITIAL, f"{_INITIAL} is forbidden for list")


def _of_watch(query: Mapping[str, str]) -> Iterator[Cause]:
    match, streaming = query.get(_MATCH), _INITIAL in query
    if streaming and match != _NOT_OLDER:
        why = f"{_INITIAL} requires setting {_MATCH} to {_NOT_OLDER}"
        yield faults.forbidden(_MATCH, why)
    if match and not streaming:
        why = f"{_MATCH} is forbidden for watch unless {_INITIAL} is provided"
        yield faults.forbidden(_MATCH, why)
    if match and match != _NOT_OLDER:
        yield faults.unsupported(_MATCH, match, (_NOT_OLDER, ""))
