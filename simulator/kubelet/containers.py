"""Carries the containers of admitted pods from station to station: started, ended, again, stopped.

For: what is written when, and the timers. Not for: who is let in (`kubelet`), what is said
(`status`, `restarts`, `told`). All containers of a pod but sidecars start and end together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.clock import timestamp
from simulator.kubelet import restarts, status, told
from simulator.kubelet.lives import exit_code, phase_of, run_seconds
from simulator.resources import PODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evencore.nodefiles.files import Delays
    from simulator.kubelet.lives import Life
    from simulator.kubelet.voice import Site, Voice
    from simulator.objects import Object
    from simulator.recording import Told
    from simulator.store.store import Store

    Station = Callable[[Object, Life], None]

_KILLED: Final = 143  # by SIGTERM


def current(store: Store, life: Life) -> Object | None:
    """Give the pod of a life as it is now; None if it is gone."""
    record = store.table(PODS).get(life.key)
    if record is None or record.object["metadata"]["uid"] != life.uid:
        return None
    return record.object


class Containers:
    """The containers of one node."""

    def __init__(self, site: Site, voice: Voice, delays: Delays) -> None:
        self._store, self._clock, self._send = site.store, site.store.clock, site.send
        self._voice, self._delays = voice, delays

    def go_on(self, pod: Object, life: Life) -> None:
        """Set the timer for the next station of an admitted pod."""
        if life.next is not None:
            life.next.cancel()
        if phase_of(pod) != "Running":
            self._soon(life, self._delays.start, self._started)
        elif restarts.is_down(pod):
            self._soon(life, life.back.seconds + self._delays.start, self._again)
        else:
            self._run(pod, life)

    def stop(self, pod: Object, life: Life) -> None:
        """Finish a deleted pod: all its containers have ended."""
        now = self._now()

        async def finish() -> None:
            if life.admitted:
                await self._tell(pod, life, told.stopping(pod))
                await self._write(life, lambda it: status.ended(it, _KILLED, now))
            await self._voice.delete(life.key, life.uid)

        self._send(finish())

    def _soon(self, life: Life, seconds: float, station: Station) -> None:
        def reach() -> None:
            pod = current(self._store, life)
            if pod is not None and life.end is None:
                station(pod, life)

        life.next = self._clock.after(seconds, reach)

    def _started(self, pod: Object, life: Life) -> None:
        now, addresses = self._now(), life.addresses
        make = lambda it: status.running(it, addresses, now)  # noqa: E731  read like its neighbours
        self._say(pod, life, told.started(pod), make)
        self._run(pod, life)

    def _again(self, pod: Object, life: Life) -> None:
        now = self._now()
        events = told.started(pod, again=True)
        self._say(pod, life, events, lambda it: restarts.up_again(it, now))
        self._run(pod, life)

    def _run(self, pod: Object, life: Life) -> None:
        life.since = self._clock.now()
        if (seconds := run_seconds(pod)) is not None:
            self._soon(life, seconds, self._ended)

    def _ended(self, pod: Object, life: Life) -> None:
        now, code = self._now(), exit_code(pod)
        if not restarts.starts_again(pod, code):
            self._say(pod, life, (), lambda it: status.ended(it, code, now))
            return
        life.back = life.back.next(self._clock.now() - life.since)
        seconds = life.back.seconds
        events = told.waiting(pod) if seconds else ()
        self._say(pod, life, events, lambda it: restarts.down(it, code, seconds, now))
        self._soon(life, seconds + self._delays.start, self._again)

    def _say(self, pod: Object, life: Life, events: Iterable[Told], make: status.Make) -> None:
        async def say() -> None:
            await self._tell(pod, life, events)
            await self._write(life, make)

        self._send(say())

    async def _tell(self, pod: Object, life: Life, events: Iterable[Told]) -> None:
        for one in events:
            await self._voice.tell(pod, one, life.told)

    async def _write(self, life: Life, make: status.Make) -> None:
        await self._voice.status(life.key, life.uid, make)

    def _now(self) -> str:
        return timestamp(self._clock.now())
