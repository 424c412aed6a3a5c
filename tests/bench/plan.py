"""How much is measured: the points of a run and how often each is visited."""

from dataclasses import dataclass

from .jobs import BURST, CLOSED, OPEN
from .reviews import SIZES
from .servers import EVENCORE, GO

AIM_SIZE, AIM_CONNECTIONS = "6", 8
"""Where the aim is set; the open loop and the bursts use this size, too."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One kind of load, sent to every server in turn. Units as in jobs.Job."""

    load: str
    """As people read it."""
    shape: str
    size: str
    """In KB, a key of reviews.SIZES."""
    rounds: int
    connections: int = 0
    seconds: float = 0.0
    rate: int = 0
    callers: int = 0
    bursts: int = 0

    def concerns(self, server: str) -> bool:
        """Tell whether a server gets this load: a gthread worker is known to lose in bursts."""
        return self.shape != BURST or server in {EVENCORE, GO}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a person may choose. Times in seconds."""

    sizes: tuple[str, ...] = tuple(SIZES)
    connections: tuple[int, ...] = (1, 8, 64)
    rounds: int = 5
    """Of the closed loop."""
    seconds: float = 0.8
    """Of each measurement in closed loop: with less, the kernel's 10 ms ticks begin to show."""
    other_rounds: int = 9
    """Of open loop and bursts: of so few calls p99 is a matter of chance."""
    open_seconds: float = 2.0
    bursts: int = 4

    def points(self) -> list[Point]:
        """Return all points, in the order of a round."""
        closed = [
            Point(
                load=f"{connections} connection{'s' * (connections > 1)}",
                shape=CLOSED,
                size=size,
                rounds=self.rounds,
                connections=connections,
                seconds=self.seconds,
            )
            for size in self.sizes
            for connections in self.connections
        ]
        size = AIM_SIZE if AIM_SIZE in self.sizes else self.sizes[0]
        at_rate = Point(
            load="1,000 a second",
            shape=OPEN,
            size=size,
            rounds=self.other_rounds,
            connections=25,  # as many as the API server keeps
            seconds=self.open_seconds,
            rate=1000,
        )
        bursts = Point(
            load="bursts of 200",
            shape=BURST,
            size=size,
            rounds=self.other_rounds,
            callers=200,
            bursts=self.bursts,
        )
        return [*closed, at_rate, bursts]


QUICK = Plan(rounds=1, seconds=0.5, other_rounds=1, bursts=3)
