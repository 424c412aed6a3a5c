"""Reading: one object, or a list in consistent pages.

Kubernetes rules: a list with `limit` gives a token for the next page, which shows the state of
the first; a version in the future is answered 504, a forgotten one 410.
"""

from __future__ import annotations

import base64
import binascii
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from simulator import versions
from simulator.api.list_options import EXACT
from simulator.errors import bad_request, expired, too_new
from simulator.selectors import Selector, parse_fields, parse_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.api.routing import Target
    from simulator.objects import Key, Object
    from simulator.store.store import Store
    from simulator.store.table import Record


class Page(NamedTuple):
    """A list, or a part of one."""

    records: list[Record]
    metadata: Object


class _Token(msgspec.Struct):
    """What a continue token says, as the API server's does: the version, and where to go on."""

    rv: int
    start: str
    v: str = "meta.k8s.io/v1"


def selector_of(target: Target, query: Mapping[str, str]) -> Selector:
    """Read the selectors of a request. Raises a 400."""
    return Selector(
        parse_labels(query.get("labelSelector", "")),
        parse_fields(query.get("fieldSelector", ""), target.resource.selectable),
    )


def version_of(query: Mapping[str, str], store: Store) -> int:
    """Read the resourceVersion of a request; 0: none, any will do. Raises 400 and 504."""
    text = query.get("resourceVersion") or "0"
    if not text.isdecimal():
        raise bad_request(f"invalid resource version {text!r}: give the one of a list or an object")
    if int(text) > store.version:
        raise too_new(int(text), store.version)
    return int(text)


def list_page(store: Store, target: Target, query: Mapping[str, str]) -> Page:
    """Read a list, or the next page of one."""
    selector = selector_of(target, query)
    table = store.table(target.resource)
    version, after = store.version, None
    if token := query.get("continue"):
        version, after = _read_token(token)
        if version < table.forgotten:
            raise expired(
                "The provided continue parameter is too old to display a consistent list result. "
                "You must start a new list without the continue parameter."
            )
    elif query.get("resourceVersionMatch") == EXACT:
        version = version_of(query, store)
        if version < table.forgotten:
            raise expired(f"The resourceVersion for the provided list is too old: {version}")
    else:
        version_of(query, store)
    selected = _selected(table.records_at(version, target.namespace, after), target, selector)
    limit = int(query["limit"]) if query.get("limit", "").isdecimal() else 0
    metadata: Object = {"resourceVersion": str(version)}
    if not limit:
        return Page(list(selected), metadata)
    records = list(islice(selected, limit))
    left = sum(1 for _ in selected)
    if left:
        metadata["continue"] = _write_token(version, records[-1].key)
        if not selector.labels and not selector.fields:
            metadata["remainingItemCount"] = left
    return Page(records, metadata)


def _selected(records: Iterator[Record], target: Target, selector: Selector) -> Iterator[Record]:
    if not selector.labels and not selector.fields:
        return records
    resource = target.resource
    return (one for one in records if selector.matches(versions.outgoing(resource, one.object)))


def _write_token(version: int, key: Key) -> str:
    token = _Token(version, "/".join(key))
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, Key]:
    try:
        token = msgspec.json.decode(base64.urlsafe_b64decode(text + "=="), type=_Token)
    except (binascii.Error, msgspec.DecodeError):
        raise bad_request("continue key is not valid: give the one of the page before") from None
    namespace, _, name = token.start.partition("/")
    return token.rv, (namespace, name)
