"""No namespace's objects fill our memory: of each namespace the newest so many are kept.

For: objects that tenants can make by the million, of which the newest tell as much as all.
Not for: objects that something is to be done with, one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_SLACK = 1000
"""Objects more than after the last thinning, before a list that grows is thinned again."""


class Crowd(NamedTuple):
    """How many are kept of each namespace, and what tells the age of one; later is larger."""

    most: int
    age: Callable[[Any], str]

    def thinned(self, objects: dict[str, T]) -> dict[str, T]:
        """Return the newest of each namespace, oldest first."""
        kept: dict[str, T] = {}
        number: dict[str, int] = {}
        for key, obj in sorted(objects.items(), key=lambda one: self.age(one[1]), reverse=True):
            namespace = namespace_of(key)
            number[namespace] = number.get(namespace, 0) + 1
            if number[namespace] <= self.most:
                kept[key] = obj
        return dict(reversed(kept.items()))


class Growing(Generic[T]):
    """A list that comes page by page, thinned now and then: never much more than is kept of it."""

    def __init__(self, crowd: Crowd | None) -> None:
        self._crowd = crowd
        self._enough = _SLACK
        self.objects: dict[str, T] = {}

    def add(self, page: dict[str, T]) -> None:
        """Take in a page."""
        self.objects.update(page)
        if self._crowd and len(self.objects) > self._enough:
            self.objects = self._crowd.thinned(self.objects)
            self._enough = 2 * len(self.objects) + _SLACK

    def done(self) -> dict[str, T]:
        """Return what is kept of the whole list."""
        return self._crowd.thinned(self.objects) if self._crowd else self.objects


def namespace_of(key: str) -> str:
    """Return the namespace of a key: namespace/name, or name."""
    namespace, slash, _ = key.partition("/")
    return namespace if slash else ""


class Places:
    """Who came when, of each namespace: tells who has to go when one more comes."""

    def __init__(self, crowd: Crowd) -> None:
        self._most = crowd.most
        self._keys: dict[str, dict[str, None]] = {}  # in the order in which they came

    def came(self, key: str) -> str | None:
        """Note one more; returns the one that has been here longest if there are too many."""
        keys = self._keys.setdefault(namespace_of(key), {})
        keys[key] = None
        return next(iter(keys)) if len(keys) > self._most else None

    def went(self, key: str) -> None:
        """Note that one is gone."""
        namespace = namespace_of(key)
        if keys := self._keys.get(namespace):
            keys.pop(key, None)
            if not keys:
                del self._keys[namespace]
