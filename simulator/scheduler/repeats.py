"""Events that are told again and again become one with a series.

Kubernetes (client-go tools/events): equal Events of one version of an object within six minutes
are one; the second makes it a series, later ones are only counted, and written every half an hour
and when the series ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulator.api.routing import Target
from simulator.clock import micro_timestamp
from simulator.errors import ApiError
from simulator.resources import EVENTS

if TYPE_CHECKING:
    from simulator.api.writes import Call, Writes
    from simulator.clock import Clock, Timer
    from simulator.errands import Send
    from simulator.objects import Key, Object
    from simulator.recording import Recorder, Told

_ENDS_AFTER_S: Final = 360.0
_REFRESHED_AFTER_S: Final = 1800.0


@dataclass(slots=True)
class _Series:
    event: Key | None = None  # None: it could not be written, or not yet
    count: int = 1
    last: float = 0.0
    written: float = 0.0
    end: Timer | None = None


class Repeats:
    """Records Events through a recorder, and counts those that were told before."""

    def __init__(
        self, recorder: Recorder, writes: Writes, clock: Clock, send: Send, call: Call
    ) -> None:
        self._recorder, self._writes, self._call = recorder, writes, call
        self._clock, self._send = clock, send
        self._known: dict[tuple[str, ...], _Series] = {}

    async def tell(self, obj: Object, told: Told) -> None:
        """Record an Event, or count it."""
        metadata = obj["metadata"]
        key = (metadata["uid"], metadata["resourceVersion"], told.reason, told.action)
        known = self._known.get(key)
        series = known or self._known.setdefault(key, _Series())
        series.last = self._clock.now()
        if series.end is not None:
            series.end.cancel()
        series.end = self._clock.after(_ENDS_AFTER_S, lambda: self._end(key))
        if known is None:
            series.event = await self._recorder.new(obj, told)
            return
        series.count += 1
        if series.count == 2 or series.last - series.written >= _REFRESHED_AFTER_S:  # noqa: PLR2004  the second one makes a series
            await self._write(series)

    def _end(self, key: tuple[str, ...]) -> None:
        series = self._known.pop(key)
        if series.count > 2:  # noqa: PLR2004  the first two are written already
            self._send(self._write(series))

    async def _write(self, series: _Series) -> None:
        if series.event is None:
            return
        series.written = series.last
        said = {"count": series.count, "lastObservedTime": micro_timestamp(series.last)}
        try:
            await self._writes.update(
                Target(EVENTS, *series.event), lambda event: {**event, "series": said}, self._call
            )
        except ApiError:
            return  # events are best effort; this one may have expired
