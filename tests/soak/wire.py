"""Between our processes and the pocket cluster, without sockets: late, torn, doubled or silent.

For: requests that go through the cluster's own switchboard of faults, and streams whose lines come
when their time has come.
Not for: what our side makes of it; that is `client`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from urllib3.exceptions import ProtocolError

from simulator.api.http import Stream
from simulator.objects import encode

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from simulator.api.http import Request
    from simulator.cluster import Cluster
    from soak.stage import Stage

BOOKMARK_S = 60.0
GRID_S = 0.05


@dataclass(slots=True)
class Weather:
    """How the network of one process is just now; seconds."""

    request_s: float = 0.005
    """How long a request takes, half before it arrives, up to twice that."""
    lag_s: float = 0.01
    """How late a line of a watch may be."""
    doubled: float = 0.0
    """The probability that a line comes twice."""
    silent: bool = False
    """Lines of watches that are open are lost, and nobody says so before the stream is torn."""
    open: int = 0
    """How many watches there are."""

    @property
    def fine(self) -> bool:
        """Tell whether nothing is wrong with it."""
        return self.request_s < 0.1 and self.lag_s < 0.1 and not self.silent


@dataclass(slots=True)
class Line:
    """One line of a watch, and when it is there."""

    at: float
    chunk: bytes


@dataclass(slots=True, eq=False)
class Pipe:
    """The near end of a stream; the far end writes to it as to a connection."""

    weather: Weather
    now: Callable[[], float]
    chance: random.Random
    lines: list[Line] = field(default_factory=list)
    torn: bool = False
    over: bool = False

    def write(self, chunk: bytes) -> None:
        """Take a line in, to be there later, never before the one before it."""
        if self.over or self.torn or self.weather.silent:
            return
        at = _on_grid(self.now() + self.chance.random() * self.weather.lag_s)
        at = max(at, self.lines[-1].at) if self.lines else at
        self.lines.append(Line(at, chunk))
        if self.chance.random() < self.weather.doubled:
            self.lines.append(Line(at, chunk))

    def tear(self) -> None:
        """Break off, with all that is on its way."""
        self.torn = True

    def end(self) -> None:
        """End as agreed."""
        self.over = True

    def has_news(self) -> bool:
        """Tell whether there is something to read, or an end."""
        if self.lines:
            return self.lines[0].at <= self.now()
        return self.torn or self.over


class Flow:
    """A body that goes on, as urllib3 gives it."""

    chunked = True

    def __init__(self, wire: Wire, pipe: Pipe, stop: Callable[[], None], seconds: float) -> None:
        self._wire, self._pipe, self._stop, self._seconds = wire, pipe, stop, seconds

    def read_chunked(self) -> Iterator[bytes]:
        """Yield lines as they come, and bookmarks, until the end that was asked for."""
        pipe, stage = self._pipe, self._wire.stage
        end = stage.now() + self._seconds
        mark = stage.now() + BOOKMARK_S
        while True:
            due = min(end, mark, *(line.at for line in pipe.lines[:1]))
            stage.wait(due - stage.now(), pipe.has_news)
            while pipe.lines and pipe.lines[0].at <= stage.now():
                yield pipe.lines.pop(0).chunk
            if pipe.torn:
                raise ProtocolError("Connection broken")
            if pipe.over or stage.now() >= end:
                return
            if stage.now() >= mark:
                mark += BOOKMARK_S
                if not pipe.lines and not pipe.weather.silent:
                    yield self._wire.bookmark()

    def shutdown(self) -> None:
        """Nothing: who reads is an actor, and is killed."""

    def close(self) -> None:
        """Tell the far end that nobody listens."""
        self._wire.hang_up(self._pipe, self._stop)


class Wire:
    """Between all processes of ours and the cluster."""

    def __init__(self, cluster: Cluster, stage: Stage, chance: random.Random) -> None:
        self.cluster, self.stage, self.chance = cluster, stage, chance
        self.pipes: list[Pipe] = []

    def soonest(self) -> float | None:
        """Tell when the next line is there for somebody; who stands still has read none yet."""
        now = self.stage.now()
        found = (pipe.lines[0].at for pipe in self.pipes if pipe.lines)
        return min((at for at in found if at > now), default=None)

    def bookmark(self) -> bytes:
        """Make a bookmark of this moment."""
        version = str(self.cluster.server.store.version)
        meta = {"resourceVersion": version, "creationTimestamp": None}
        return b'{"type":"BOOKMARK","object":%b}\n' % encode({"metadata": meta})

    def ask(self, request: Request, pipe: Pipe, *, settle: bool) -> Any:  # noqa: ANN401  a body or a flow
        """Carry a request to the API server and what it causes at once; raises Dropped."""
        server = self.cluster.server

        async def there() -> Any:  # noqa: ANN401
            try:
                answer = await server.faults(request)
                if isinstance(answer, Stream):
                    stop = answer.start(pipe)  # type: ignore[arg-type]  it is a channel by shape
                    self.pipes.append(pipe)
                    pipe.weather.open += 1
                    return stop
            finally:
                if settle:
                    await self.cluster._background.advance(0)  # noqa: SLF001  as `settle` does
            return answer

        return server.wait_for(there())

    def hang_up(self, pipe: Pipe, stop: Callable[[], None]) -> None:
        """End a stream from our side."""
        pipe.over = True
        if pipe in self.pipes:
            self.pipes.remove(pipe)
            pipe.weather.open -= 1
            self.cluster.server.call(stop)


def _on_grid(at: float) -> float:
    """Let lines come at the same moments: fewer moments are quicker to play."""
    return math.ceil(at / GRID_S) * GRID_S
