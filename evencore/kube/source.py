"""What a process watches: several resources, each mirrored by its own thread.

For: starting and stopping the reflectors together, knowing whether the view is complete, and
handing out the objects.
Not for: what the objects mean; the caller says which Struct each kind is decoded into.
"""

from __future__ import annotations

import logging
import random as _random
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from evencore.kube.clock import Clock, SystemClock
from evencore.kube.reflector import Reflector, Rules, Stats
from evencore.kube.resource import Resource
from evencore.kube.store import Store
from evencore.kube.surroundings import in_background

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from msgspec import Struct

    from evencore.kube.client import Client
    from evencore.kube.crowds import Crowd
    from evencore.kube.surroundings import Spawn

_log = logging.getLogger(__name__)

NODES = Resource("/api/v1/nodes", metadata_only=True)
NAMESPACES = Resource("/api/v1/namespaces", metadata_only=True)
LIMIT_RANGES = Resource("/api/v1/limitranges")
PODS = Resource("/api/v1/pods")
FAILED_PODS = Resource("/api/v1/pods", field_selector="status.phase=Failed")
"""A pod that ceases to be Failed, or is deleted, leaves the selector and is reported deleted."""

STOP_S = 1.0
"""How long `stop` waits for the threads, all together."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One resource to mirror, the partial Struct to decode it into, and what to keep of that.

    `keep`: see `decoding.Decoder`; a change in what is not kept is no change. Of the PodView of a
    running pod, 2.3 KB, hardly a tenth matters to anybody. `crowd`: how many at most; None: all.
    """

    resource: Resource
    view: type[Struct]
    rules: Rules = field(default_factory=Rules)
    keep: Callable[[Any], Any] | None = None
    crowd: Crowd | None = None


class Listener(Protocol):
    """Told of every change after it can be seen in `objects`, by the thread of that kind."""

    def __call__(self, name: str, key: str, before: Any, after: Any, /) -> None:  # noqa: ANN401  the caller's Structs
        """`before` is None for a new object, `after` for one that is gone.

        An object that was replaced by another of its name while nobody watched comes as one
        change: who cares compares the uids.
        """


class ClusterSource:
    """Mirrors `kinds` (name → Kind), each in a daemon thread. Start it once.

    `listener` must be quick: the events of its kind wait for it, and so do the lists of all kinds.
    If it raises, that is logged and the objects are kept all the same.

    Lists are taken in one after the other. Together they would be no quicker, for there is one
    interpreter lock; and who answers admissions beside them would wait for each of them in turn.
    """

    def __init__(  # noqa: PLR0913  the last four have defaults
        self,
        client: Client,
        kinds: Mapping[str, Kind],
        listener: Listener | None = None,
        *,
        clock: Clock | None = None,
        random: Callable[[], float] = _random.random,
        spawn: Spawn = in_background,
    ) -> None:
        self._listener = listener
        self._spawn = spawn
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._version = 0
        self._stores: dict[str, Store[Any]] = {}
        self._reflectors: dict[str, Reflector[Any]] = {}
        self._threads: list[threading.Thread] = []
        turn = threading.Lock()
        for name, kind in kinds.items():
            store = self._stores[name] = Store(self._telling(name), kind.crowd)
            self._reflectors[name] = Reflector(
                client,
                kind.resource,
                kind.view,
                store,
                keep=kind.keep,
                crowd=kind.crowd,
                on_synced=self._rise,
                rules=kind.rules,
                clock=clock or SystemClock(),
                random=random,
                turn=turn,
            )
        self._needed = {
            name: one for name, one in self._reflectors.items() if not kinds[name].resource.optional
        }

    @property
    def version(self) -> int:
        """Rises with every change of an object and whenever a kind becomes complete.

        Read it before `objects`: these are then at least as new as the version.
        """
        return self._version

    def start(self) -> None:
        """Start the threads and return at once. Raises RuntimeError if it was called before."""
        if self._threads:
            raise RuntimeError("the source was started before: make a new one")
        for name, reflector in self._reflectors.items():
            run = partial(reflector.run, self._stop)
            self._threads.append(self._spawn(f"watch {name}", run))

    def stop(self, timeout_s: float = STOP_S) -> None:
        """End all watches and wait up to `timeout_s`; what was read stays readable.

        A thread whose request is not answered yet may outlive this; it is a daemon, changes
        nothing any more and ends with its read timeout.
        """
        self._stop.set()
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _log.info("%s still waits for an answer and is left behind", thread.name)

    def synced(self) -> list[str]:
        """Name the kinds whose first list is not complete yet; empty means that all are.

        Those that the server need not know (`Resource.optional`) are not waited for.
        """
        return [name for name, one in self._needed.items() if not one.synced.is_set()]

    def wait_synced(self, timeout_s: float) -> list[str]:
        """Wait until `synced` is empty or `timeout_s` have passed; returns what `synced` does."""
        deadline = time.monotonic() + timeout_s
        for reflector in self._needed.values():
            reflector.synced.wait(max(0.0, deadline - time.monotonic()))
        return self.synced()

    def objects(self, name: str) -> Mapping[str, Any]:
        """Give the objects of a kind by namespace/name, or name; a mapping that never changes.

        Empty before the first list is complete. Raises KeyError for a kind that is not watched.
        """
        return self._stores[name].view()

    def object(self, name: str, key: str) -> Any:  # noqa: ANN401  the caller's Structs
        """Give one object, None if there is none; costs the same whatever is kept."""
        return self._stores[name].get(key)

    def stats(self) -> dict[str, Stats]:
        """Give the counts of each kind, for diagnosis."""
        return {name: reflector.stats for name, reflector in self._reflectors.items()}

    def _rise(self) -> None:
        # Several threads write, and += is not atomic; readers need no lock.
        with self._lock:
            self._version += 1

    def _telling(self, name: str) -> Callable[[str, Any, Any], None]:
        """Make what the store of `name` calls after each change."""

        def changed(key: str, before: Any, after: Any) -> None:  # noqa: ANN401  the caller's Structs
            self._rise()
            if self._listener is None:
                return
            try:
                self._listener(name, key, before, after)
            except Exception:  # noqa: BLE001  anything at all may come from there
                # Not our code, and the object is kept already: a fresh list would find it equal
                # and tell nobody, so there is nothing to gain by passing this on.
                _log.exception("the listener failed at %s %s; the object is kept", name, key)

        return changed
