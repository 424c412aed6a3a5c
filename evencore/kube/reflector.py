"""The layer that drives: list, watch, and start over, for as long as the process lives.

For: keeping a handler's picture of one resource up to date through every kind of failure, and
never asking more than twice a second in a loop that fails.
Not for: keeping the objects; that is `store`.

After a list: watch from its version. A watch that ends as agreed: resume at once. 410: list
again after a wait. Any other failure: resume from the last version after a wait, but not from one
that leads to nothing again and again.

An event that is not newer than what we have is not handed on: a server that repeats itself must
not turn the picture back. (Versions of one resource are comparable as integers, KEP-5504; what
is no integer is taken as it comes.)
"""

from __future__ import annotations

import logging
import random as _random
import threading
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from evencore.kube import errors, watching
from evencore.kube.backoff import LONG_LIVED_S, Backoff, Pace
from evencore.kube.clock import Clock, SystemClock
from evencore.kube.decoding import BOOKMARK, DELETE, UPSERT, Decoder, is_repeat
from evencore.kube.lifeline import Lifeline
from evencore.kube.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from msgspec import Struct

    from evencore.kube.client import Client
    from evencore.kube.crowds import Crowd
    from evencore.kube.resource import Resource

_log = logging.getLogger(__name__)

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

MOST_REFUSALS = 3
"""In a row, after which the version itself is suspected: ERROR events that are no 410, or watches
that end at once, properly, without a word. That is how an API server may answer for a version of
Events that it has forgotten (kubernetes#104171); client-go lists again, too.
"""


class Handler(Protocol[T_contra]):
    """Told of every change, in order, by the reflector's thread. Keys: namespace/name or name."""

    def replace(self, objects: Mapping[str, T_contra]) -> None:
        """Take these for all objects there are: what is known besides them has vanished."""

    def upsert(self, key: str, obj: T_contra) -> None:
        """`obj` is new or has changed."""

    def delete(self, key: str) -> None:
        """Forget it: it is gone, or left the selector, or can no longer be read."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a reflector asks. Times in seconds; why they are so is said in `watching`."""

    page_size: int = 100
    """Objects per page: the parse of a page holds the interpreter lock."""
    shortest_watch_s: float = watching.SHORTEST_S
    longest_watch_s: float = watching.LONGEST_S
    grace_s: float = watching.GRACE_S


@dataclass(slots=True)
class Stats:
    """Counts since the start; `heard_at` is the clock's time of the last word from the server."""

    lists: int = 0
    watches: int = 0
    events: int = 0
    failures: int = 0
    repeats: int = 0
    skipped: int = 0
    heard_at: float | None = None


AT_ONCE_S = 1.0
"""A watch that ends within this time has ended at once."""

ABSENT_S = 300.0
"""Until the next look for a resource that the server does not know (`Resource.optional`)."""


class _Failure(NamedTuple):
    """Why a turn failed, how long its watch had lived (s), what the server asked for (s)."""

    why: str
    lived_s: float = 0.0
    retry_after_s: float | None = None


_ABSENT = _Failure("there is no such resource")


class Reflector(Generic[T]):
    """Mirrors one resource into `handler`. Run it in one thread: `run(stop)`.

    Objects are decoded into `view`; `keep` makes of that what the handler gets (`decoding`).
    `on_synced` is called once, in that thread, after the first complete list; `synced` is set
    just before. `random` returns a number in [0, 1). `turn`: shared by reflectors that take their
    lists in one after the other; see `source`.
    """

    def __init__(  # noqa: PLR0913  the last seven have defaults
        self,
        client: Client,
        resource: Resource,
        view: type[Struct],
        handler: Handler[T],
        *,
        keep: Callable[[Any], T] | None = None,
        crowd: Crowd | None = None,
        on_synced: Callable[[], None] | None = None,
        rules: Rules | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = _random.random,
        turn: threading.Lock | None = None,
    ) -> None:
        self._client = client
        self._resource = resource
        self._handler = handler
        self._turn_to_list = turn or threading.Lock()
        self._crowd = crowd
        self._on_synced = on_synced
        self._rules = rules or Rules()
        self._clock = clock or SystemClock()
        self._random = random
        self._decoder: Decoder[T] = Decoder(view, resource.path, keep)
        self._backoff = Backoff(random)
        self._pace = Pace()
        self._stats = Stats()
        self._listing: Listing[T] | None = None
        self._version = ""
        self._refusals = 0
        self._opened_at: float | None = None
        self.synced = threading.Event()

    @property
    def stats(self) -> Stats:
        """A copy of the counts; callable from any thread."""
        return replace(self._stats, skipped=self._decoder.skipped)

    def run(self, stop: threading.Event) -> None:
        """List and watch until `stop` is set; returns within a moment then, and never before.

        Nothing escapes: a failure is logged and tried again, for ever. Only a request whose
        answer has not begun delays a stop, by up to its read timeout.
        """
        lifeline = Lifeline(stop)
        lifeline.start(f"stop {self._resource.path}")
        while not stop.is_set():
            failure = self._turn(lifeline)
            if failure is None or stop.is_set():  # an aborted stream looks like a failed one
                continue
            if failure is _ABSENT:
                _log.debug("%s: the server does not know it", self._resource.path)
                self._clock.wait(stop, ABSENT_S)
            else:
                self._clock.wait(stop, self._failed(failure))

    def _turn(self, lifeline: Lifeline) -> _Failure | None:
        """Fetch one page, or watch until the stream ends; returns what went wrong, if anything."""
        self._opened_at = None
        try:
            if not self._version:
                self._list(lifeline)
                return None
            heard = self._watch(lifeline)
        except errors.KubeError as error:
            if self._resource.optional and isinstance(error, errors.NotFound):
                self._version, self._listing = "", None
                self._handler.replace({})
                return _ABSENT
            self._consider(error)
            lived_s = self._heard_s() if isinstance(error, errors.Silent) else self._lived_s()
            return _Failure(str(error), lived_s, error.retry_after)
        except Exception as error:  # noqa: BLE001  see below
            # A handler that raises, or a mistake of ours. The thread must not end, for its view
            # would go stale in silence; and since nobody knows what the handler has taken in,
            # it gets everything again.
            _log.exception("%s: a change could not be handled", self._resource.path)
            self._version, self._listing = "", None
            return _Failure(f"{self._resource.path}: listing again after a {type(error).__name__}")
        lived_s = self._lived_s()
        if lived_s >= LONG_LIVED_S:
            self._backoff.went_well(lived_s)
            return None
        # As bad as an error: a server that closes each watch at once, however properly, must not
        # be asked in a tight loop.
        if not heard and lived_s < AT_ONCE_S:
            self._refusals += 1
            self._suspect_version()
        return _Failure(f"the watch of {self._resource.path} was closed early", lived_s)

    def _list(self, lifeline: Lifeline) -> None:
        """Fetch the next page of the list; hand everything over if it was the last."""
        if self._listing is None:
            self._stats.lists += 1
            self._listing = Listing(
                self._client,
                self._resource,
                self._decoder,
                self._rules.page_size,
                self._turn_to_list,
                self._crowd,
            )
        self._pace.spend(self._clock.now())
        complete = self._listing.step(lifeline)
        self._stats.heard_at = self._clock.now()
        if not complete:
            return
        listing, self._listing = self._listing, None
        with self._turn_to_list:
            self._handler.replace(listing.objects)
        self._version, self._refusals = listing.version, 0
        if not self.synced.is_set():
            self.synced.set()
            if self._on_synced is not None:
                self._on_synced()

    def _watch(self, lifeline: Lifeline) -> bool:
        """Hand on events until the server ends the watch; tells whether there were any."""
        rules = self._rules
        seconds = rules.shortest_watch_s + self._random() * (
            rules.longest_watch_s - rules.shortest_watch_s
        )
        self._stats.watches += 1
        self._pace.spend(self._clock.now())
        stream = watching.watch(
            self._client,
            self._resource,
            self._decoder,
            lifeline,
            version=self._version,
            seconds=seconds,
            grace_s=rules.grace_s,
        )
        heard = False
        with closing(stream):
            for event in stream:
                now = self._clock.now()
                self._stats.heard_at = now
                if event is None:
                    self._opened_at = now
                    continue
                heard, self._refusals = True, 0
                if is_repeat(event.version, self._version):
                    # A bookmark in a quiet hour says the same again, and rightly so.
                    self._stats.repeats += event.kind != BOOKMARK
                    continue
                self._stats.events += 1
                if event.kind == UPSERT and event.object is not None:
                    self._handler.upsert(event.key, event.object)
                elif event.kind == DELETE:
                    self._handler.delete(event.key)
                # Last, so that an event whose handling failed is not taken for done.
                self._version = event.version or self._version
        return heard

    def _consider(self, error: errors.KubeError) -> None:
        """Decide whether to resume from the version, or the page, that we have."""
        if self._opened_at is not None and error.status is not None:
            self._refusals += 1
        # 400 to a watch: the version means nothing to this server (restored from a backup).
        refused = self._version and isinstance(error, errors.Invalid)
        if isinstance(error, errors.Gone) or refused:
            self._refusals = MOST_REFUSALS
        self._suspect_version()

    def _suspect_version(self) -> None:
        """List again if the version that we have was refused too often."""
        if self._refusals >= MOST_REFUSALS:
            self._version, self._listing, self._refusals = "", None, 0

    def _failed(self, failure: _Failure) -> float:
        """Count and log a failure; returns the seconds to wait."""
        self._stats.failures += 1
        wait_s = self._backoff.after_failure(failure.lived_s, failure.retry_after_s)
        wait_s = max(wait_s, self._pace.owed(self._clock.now()))
        _log.warning("%s (trying again in %.1f s)", failure.why, wait_s)
        return wait_s

    def _lived_s(self) -> float:
        """Seconds since the server accepted the watch of this turn; 0 without one."""
        return 0.0 if self._opened_at is None else self._clock.now() - self._opened_at

    def _heard_s(self) -> float:
        """Seconds from then to the last word: how long a stream lived that died silently."""
        if self._opened_at is None or self._stats.heard_at is None:
            return 0.0
        return self._stats.heard_at - self._opened_at
