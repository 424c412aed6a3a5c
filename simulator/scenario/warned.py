"""Warning Events, folded: one line for each reason of each component, however many there are.

Messages name pods, so all but the first would be noise. Follows the store's feed of Events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from simulator.objects import dig
from simulator.resources import EVENTS
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object
    from simulator.store.store import Store
    from simulator.store.table import Change


class Source(NamedTuple):
    """Who warns of what."""

    component: str
    reason: str


@dataclass(slots=True)
class Warned:
    """How often, and in which words the first time."""

    first: str
    times: int = 0


def times_of(event: Object) -> int:
    """Tell how often an Event stands for happened, in the old and in the new shape of Events."""
    said = dig(event, "series", "count") or event.get("count")
    return said if isinstance(said, int) else 1  # anybody may write any Event


class Warnings:
    """Counts from now on; `tell` hears of each source when it warns for the first time."""

    def __init__(self, store: Store, tell: Callable[[Source, str], None]) -> None:
        self.by_source: dict[Source, Warned] = {}
        self._tell = tell
        store.table(EVENTS).listen(self._note)

    def _note(self, change: Change) -> None:
        event = change.record.object
        if event.get("type") != "Warning" or change.type == DELETED:
            return
        component = event.get("reportingComponent") or dig(event, "source", "component") or ""
        source = Source(str(component), str(event.get("reason") or ""))
        warned = self.by_source.get(source)
        if warned is None:
            warned = self.by_source[source] = Warned(str(event.get("message") or ""))
            self._tell(source, warned.first)
        before = 0 if change.previous is None else times_of(change.previous.object)
        warned.times += times_of(event) - before
