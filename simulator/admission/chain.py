"""What an admission plug-in is told, and how plug-ins follow each other.

For: the built-in plug-ins here, and whatever else wants to look at a write before it is stored.
Not for: authorization; who gets here may write.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.api.routing import Target
    from simulator.objects import Object


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    credential: str = ""  # the id of what they show (`auth.credentials`)


@dataclass(frozen=True, slots=True)
class Attributes:
    """One write. `warnings` is shared by all plug-ins and travels back to the client."""

    operation: str  # CREATE, UPDATE, DELETE
    target: Target
    user: User
    obj: Object | None  # None for DELETE
    old: Object | None  # None for CREATE
    options: Object
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)


class Plugin(Protocol):
    """Looks at a write: raises an ApiError to refuse it, returns the object to store.

    A plug-in copies what it changes. It may wait; the store may change meanwhile.
    """

    async def __call__(self, attributes: Attributes) -> Object | None:
        """Return the object, changed or not; for DELETE what it returns does not matter."""


async def run(plugins: Sequence[Plugin], attributes: Attributes) -> Object | None:
    """Run plug-ins in turn, each on what the one before left."""
    for plugin in plugins:
        obj = await plugin(attributes)
        if obj is not attributes.obj:
            attributes = replace(attributes, obj=obj)
    return attributes.obj
