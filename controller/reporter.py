"""Events on pods and owners: each matter one Event, counted up, as recorders of Kubernetes do.

For: folding what is told again into one object, and not writing it more than every few seconds.
Not for: the words; they come with the decisions.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from controller.queue import Key
from evencore.kube.events import About, Event
from evencore.kube.outcome import Conflict, Done, Gone, Later

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.queue import Queue
    from evencore.kube.writer import Writer

_log = logging.getLogger(__name__)

REPORT: Final = "report"  # about: the name of an Event that is to be written

AGAIN_S: Final = 10.0
"""Between two writes of the same Event: a loop may tell hundreds of things a minute."""

_MOST: Final = 4096
"""Events that are counted up; what was told longest ago begins anew."""


@dataclass(slots=True)
class _Matter:
    event: Event
    written: int = 0  # the count that the API server knows


class Reporter:
    """Tells people. Threads may share it."""

    def __init__(self, writer: Writer, queue: Queue, now: Callable[[], datetime]) -> None:
        """`queue`: one of its own, so that telling never comes before doing."""
        self._writer, self._queue, self._now = writer, queue, now
        self._started = now()
        self._lock = threading.Lock()
        self._matters: OrderedDict[str, _Matter] = OrderedDict()

    def tell(self, about: About, reason: str, message: str, *, warning: bool = False) -> None:
        """Tell something of an object, once more if it was told before with this reason."""
        now = self._now()
        name = self._name(about, reason)
        with self._lock:
            matter = self._matters.pop(name, None)
            if matter is None:
                matter = _Matter(Event(name, about, reason, message, now, now, warning=warning))
            else:
                count = matter.event.count + 1
                matter.event = replace(matter.event, message=message, last=now, count=count)
            self._matters[name] = matter
            while len(self._matters) > _MOST:
                self._matters.popitem(last=False)
            after_s = AGAIN_S if matter.written else 0.0
        self._queue.add(Key(REPORT, name), after_s)

    def write(self, name: str) -> float | None:
        """Write an Event that has news; returns in how many seconds to try again, if at all."""
        with self._lock:
            matter = self._matters.get(name)
            if matter is None or matter.written == matter.event.count:
                return None
            event, first = matter.event, not matter.written
        whom = f"{event.about.kind} {event.about.namespace}/{event.about.name}"
        again = f" (told {event.count} times)" if event.count > 1 else ""
        _log.info("%s: %s: %s%s", whom, event.reason, event.message, again)
        outcome = self._writer.create_event(event) if first else self._writer.repeat_event(event)
        if first and isinstance(outcome, Conflict):  # our own, written by a try that got no answer
            outcome = self._writer.repeat_event(event)
        with self._lock:
            if isinstance(outcome, Later):
                return outcome.seconds
            if isinstance(outcome, Gone) and not first:  # its hour is over
                matter.written = 0
                return 0.0
            matter.written = event.count
            unwritten = matter.event.count > event.count
        if not isinstance(outcome, Done):  # its namespace ends, most likely
            _log.warning("the Event %s was not written: %s", name, outcome.why)
        return AGAIN_S if unwritten else None

    def _name(self, about: About, reason: str) -> str:
        """Name an Event after its object, as others do, and so that a second try names the same.

        A process that starts begins to count anew, with Events of its own.
        """
        text = f"{about.uid}/{reason}/{self._started.isoformat()}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{about.name[:200].rstrip('-.')}.{digest}"
