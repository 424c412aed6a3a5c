"""From the bytes of lists and watches to views, one object at a time.

For: msgspec decoding into whatever partial Struct the caller gives, next to the few fields that
a reflector itself needs (name, namespace, version). An object that does not decode is skipped,
counted and logged once; it never ends a list or a watch.
Not for: knowing any kind of object.

An object that cannot be read is not in the view, whichever way it came: a watch event that shows
it unreadable removes what was known of it, as the next list would. So what we know is always a
function of what is in the cluster, not of our own history.

Views are free of resourceVersion, which changes at every heartbeat of a node; see `versioned`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from evencore.kube import errors
from evencore.kube.versioned import Versioned

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

T = TypeVar("T")

UPSERT = "upsert"
DELETE = "delete"
BOOKMARK = "bookmark"
ERROR = "error"
_KINDS = {
    "ADDED": UPSERT,
    "MODIFIED": UPSERT,
    "DELETED": DELETE,
    "BOOKMARK": BOOKMARK,
    "ERROR": ERROR,
}

_LONGEST_VERSION = 20
"""Digits of a 64-bit number; int() refuses thousands of them with an exception."""

_NAMES_KEPT = 256
"""Names of unreadable objects that are remembered so that each is logged once."""


class _Metadata(Struct, gc=False, rename="camel"):
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None


class _Head(Struct, gc=False):
    metadata: _Metadata


class _EventHead(Struct, gc=False):
    type: str
    object: _Head


class _EventView(Struct, Generic[T], gc=False):
    type: str
    object: T


class _EventError(Struct):
    object: errors.Status


class _ListMetadata(Struct, rename="camel"):
    resource_version: str = ""
    token: str = field(name="continue", default="")


class _ListOf(Struct, Generic[T]):
    metadata: _ListMetadata
    items: list[T] | None = None  # Go writes an empty list as null now and then


class Page(Struct, Generic[T]):
    """One page of a list: its objects by key, its version, the token of the next page or ''."""

    objects: dict[str, T]
    version: str
    token: str


class Event(Struct, Generic[T], gc=False):
    """One watch event. `version` is empty if it could not be read; `object` only with UPSERT."""

    kind: str
    key: str = ""
    version: str = ""
    object: T | None = None
    status: errors.Status | None = None


class Decoder(Generic[T]):
    """Decodes pages and events of one resource into `view`; used by one thread.

    `keep` makes of a view what is handed on, so that nobody holds in memory what nobody reads; it
    may raise ValueError for an object that it cannot read. None: the view itself.
    `view` has a `metadata` with `name` and `namespace`, as all objects have. It should not hold
    msgspec.Raw fields: they would keep the whole page in memory.
    """

    def __init__(
        self, view: type[Struct], path: str, keep: Callable[[Any], T] | None = None
    ) -> None:
        self._path = path
        self._keep: Callable[[Any], T] = keep or _whole
        self._view = msgspec.json.Decoder(view)
        self._versioned = Versioned(view)
        self._head = msgspec.json.Decoder(_Head)
        self._raw_page = msgspec.json.Decoder(_ListOf[Raw])
        self._event_head = msgspec.json.Decoder(_EventHead)
        # Generic aliases made of a type that only the caller knows.
        self._page: msgspec.json.Decoder[_ListOf[Any]] = msgspec.json.Decoder(
            _ListOf[view]  # type: ignore[valid-type]
        )
        self._event_view: msgspec.json.Decoder[_EventView[Any]] = msgspec.json.Decoder(
            _EventView[self._versioned.type]  # type: ignore[name-defined]
        )
        self._named: set[str] = set()
        self.skipped = 0
        """Objects that did not decode so far, each time that they came."""

    def page(self, body: bytes, call: errors.Call) -> Page[T]:
        """Decode one page of a list. Raises Unreadable if it is no list at all."""
        try:
            page = self._page.decode(body)
            objects = {_key_of(view): self._keep(view) for view in page.items or ()}
        except (msgspec.DecodeError, ValueError):
            return self._page_one_by_one(body, call)
        return Page(objects, page.metadata.resource_version, page.metadata.token)

    def _page_one_by_one(self, body: bytes, call: errors.Call) -> Page[T]:
        """Decode a page in which something is odd; it takes three times as long."""
        try:
            raw = self._raw_page.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise errors.Unreadable(
                f"{call} was answered with something that is no list: "
                f"{errors.shortened(str(error))}: {errors.Unreadable.advice}"
            ) from error
        objects: dict[str, T] = {}
        for item in raw.items or ():
            try:
                metadata = self._head.decode(item).metadata
                objects[_key(metadata)] = self._keep(self._view.decode(item))
            except (msgspec.DecodeError, ValueError) as error:
                self._skip(_dig(item, "metadata"), error)
        return Page(objects, raw.metadata.resource_version, raw.metadata.token)

    def event(self, line: bytes) -> Event[T] | None:
        """Decode one line of a watch; None if nothing of it is of use."""
        try:
            event = self._event_view.decode(line)
            if _KINDS.get(event.type) == UPSERT:
                view, version = self._versioned.apart(event.object)
                return Event(UPSERT, _key(view.metadata), version, self._keep(view))
        except (msgspec.DecodeError, ValueError) as error:
            return self._other(line, error)
        return self._other(line)

    def _other(self, line: bytes, error: Exception | None = None) -> Event[T] | None:
        """Decode a line that shows no object, or one that cannot be read: `error` says why."""
        try:
            head = self._event_head.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as odd:
            return self._unreadable(line, error or odd)
        kind = _KINDS.get(head.type)
        metadata = head.object.metadata
        version = metadata.resource_version or ""
        if kind == UPSERT and error is not None:
            return self._unreadable(line, error)
        if kind == DELETE:
            return Event(DELETE, _key(metadata), version)
        if kind == ERROR:
            return _error(line)
        # Types that are not invented yet carry a version like a bookmark.
        return Event(BOOKMARK, version=version)

    def _unreadable(self, line: bytes, error: Exception) -> Event[T] | None:
        """Make of an event that did not decode what can be made of it."""
        kind = _KINDS.get(str(_dig(line, "type")))
        if kind == ERROR:
            return _error(line)
        found = _dig(line, "object", "metadata")
        if kind not in (DELETE, BOOKMARK):
            self._skip(found, error)
        metadata = _read_metadata(found)
        version = metadata.resource_version or ""
        if kind == BOOKMARK or not metadata.name:
            return Event(BOOKMARK, version=version) if version else None
        return Event(DELETE, _key(metadata), version)

    def _skip(self, metadata: object, error: Exception) -> None:
        self.skipped += 1
        name = _key(_read_metadata(metadata)) or "an object without a readable name"
        if name in self._named or len(self._named) >= _NAMES_KEPT:
            return
        self._named.add(name)
        # msgspec says which field has which type, never its value.
        _log.warning(
            "%s of %s cannot be read and is left out: %s: look at the object, or report this",
            errors.shortened(name),
            self._path,
            errors.shortened(str(error)),
        )


def is_repeat(version: str, known: str) -> bool:
    """Tell whether a version is certainly not newer than the one that is known."""
    return _is_number(version) and _is_number(known) and int(version) <= int(known)


def _is_number(version: str) -> bool:
    return version.isdecimal() and len(version) <= _LONGEST_VERSION


def _whole(view: Any) -> Any:  # noqa: ANN401  what `keep` is, if nothing is left out
    return view


def _error(line: bytes) -> Event[Any]:
    try:
        status = msgspec.json.decode(line, type=_EventError).object
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = errors.Status(message="an error event that cannot be read")
    return Event(ERROR, status=status)


def _key_of(view: Any) -> str:  # noqa: ANN401  a Struct of the caller
    """Return the key of an object. Raises ValueError if it has no metadata."""
    if view.metadata is None:
        raise ValueError("no metadata")
    return _key(view.metadata)


def _key(metadata: Any) -> str:  # noqa: ANN401  ours or the caller's
    """namespace/name, or name for what has no namespace; one str is smaller than a pair."""
    if metadata.namespace:
        return f"{metadata.namespace}/{metadata.name or ''}"
    return metadata.name or ""


def _dig(data: bytes | Raw, *path: str) -> object:
    """Find the value at `path` in any JSON at all; None if there is none."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _read_metadata(found: object) -> _Metadata:
    """As much of a metadata of any shape as is text."""
    if not isinstance(found, dict):
        return _Metadata()
    values = (found.get(name) for name in ("name", "namespace", "resourceVersion"))
    return _Metadata(*(value if isinstance(value, str) else None for value in values))
