"""What the wire tests share: their clock, a handler that remembers, a reflector at work."""

from __future__ import annotations

import itertools
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import yaml
from wire.scripted import CUT, PATIENCE_S, ScriptedServer, Stream, a_list, event, refusal, thing

from evencore.kube.access import Access
from evencore.kube.client import Client
from evencore.kube.reflector import Reflector, Rules
from evencore.kube.resource import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from wire.scripted import Seen, Step

PATH = "/api/v1/things"
THINGS = Resource(PATH)


class Metadata(msgspec.Struct, frozen=True, gc=False):
    """What the tests read of a metadata."""

    name: str
    namespace: str = ""


class Thing(msgspec.Struct, frozen=True, gc=False):
    """The view that the tests' reflectors decode into."""

    metadata: Metadata
    payload: str = ""


class FakeClock:
    """Waiting takes no time but moves the clock; so does a test or a server that says `advance`."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._lock = threading.Lock()
        self.waits: list[float] = []

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        self.advance(seconds)
        return stop.is_set()


class Recorder:
    """A handler that keeps what it was told, in order, and the picture that results."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.objects: dict[str, Thing] = {}
        self.changed = threading.Condition()

    def replace(self, objects: Mapping[str, Thing]) -> None:
        self._note("replace", sorted(objects), becomes=dict(objects))

    def upsert(self, key: str, obj: Thing) -> None:
        self._note("upsert", key, obj.payload, becomes={**self.objects, key: obj})

    def delete(self, key: str) -> None:
        left = {name: obj for name, obj in self.objects.items() if name != key}
        self._note("delete", key, becomes=left)

    def _note(self, *call: object, becomes: dict[str, Thing]) -> None:
        with self.changed:
            self.calls.append(call)
            self.objects = becomes
            self.changed.notify_all()

    def wait_until(self, holds: Callable[[Recorder], object]) -> None:
        with self.changed:
            done = self.changed.wait_for(lambda: holds(self), PATIENCE_S)
        assert done, f"this came: {self.calls}"

    def wait_calls(self, *calls: tuple[Any, ...]) -> None:
        """Wait until as many calls came, and assert that they are exactly these."""
        self.wait_until(lambda it: len(it.calls) >= len(calls))
        assert self.calls == list(calls)


def living(clock: FakeClock, recorder: Recorder, seconds: float, end: str = CUT) -> Stream:
    """Make a watch that is open for `seconds` of the clock once the reflector has seen it open."""
    key = f"life-{next(_lives)}"

    def pass_time() -> None:
        recorder.wait_until(lambda it: key in it.objects)
        clock.advance(seconds)

    return Stream((event("ADDED", thing(key)), pass_time), end)


_lives = itertools.count()


def kubeconfig(path: Path, server: str, user: dict[str, Any], **cluster: object) -> str:
    """Write a kubeconfig with one context to `path`; returns its name."""
    content = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def lets_in(wanted: list[str]) -> Callable[[Seen], Step]:
    """Make a server that knows one token: the one that `wanted` holds at the moment."""

    def brain(seen: Seen) -> Step:
        if seen.headers.get("authorization") != f"Bearer {wanted[0]}":
            return refusal(401, "Unauthorized")
        return Stream() if seen.watch else a_list([thing("a")])

    return brain


def client_of(server: ScriptedServer) -> Client:
    return Client(lambda: Access(server.url, lambda: None))


@contextmanager
def reflecting(  # noqa: PLR0913  the last four have defaults
    server: ScriptedServer,
    clock: FakeClock,
    *,
    resource: Resource = THINGS,
    rules: Rules | None = None,
    handler: Any = None,  # noqa: ANN401  a Handler of any kind
    random: Callable[[], float] = lambda: 0.0,
) -> Iterator[tuple[Reflector[Thing], Any]]:
    """Run a reflector against `server`; at the end it has to stop within a second."""
    client, recorder = client_of(server), handler or Recorder()
    reflector = Reflector(
        client, resource, Thing, recorder, rules=rules, clock=clock, random=random
    )
    stop = threading.Event()
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    try:
        yield reflector, recorder
    finally:
        started = time.monotonic()
        stop.set()
        thread.join(PATIENCE_S)
        took_s = time.monotonic() - started
        client.close()
    assert took_s < 1.0


def assert_paced(times: Sequence[float], count: int) -> None:
    """Assert that of at least `count` requests no three came within one second."""
    assert len(times) >= count
    close = [(a, c) for a, c in zip(times, times[2:], strict=False) if c - a < 1.0 - 1e-6]
    assert not close, f"three requests within a second: {close}"
