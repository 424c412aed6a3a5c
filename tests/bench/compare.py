"""Ratios between servers, and whether the aims are met."""

from collections.abc import Callable
from dataclasses import dataclass

from .jobs import BURST, CLOSED, OPEN, Result
from .measure import Figures
from .plan import AIM_CONNECTIONS, Point
from .servers import EVENCORE, FLASK, GO, NAMES
from .stats import Ratio, paired_ratio


@dataclass(frozen=True)
class Aim:
    """What evencore should come to beside Go at one point; in closed loop with 8 connections."""

    shape: str
    size: str
    figure: str
    """Of Comparison."""
    at_most: float

    @property
    def words(self) -> str:
        """Name it for people."""
        what = {"cpu": "CPU", "p99": "p99"}[self.figure]
        where = {CLOSED: f"{AIM_CONNECTIONS} connections", OPEN: "1,000 a second"}
        return f"{what} at {self.size} KB, {where.get(self.shape, 'bursts of 200')}"


AIMS = (
    Aim(CLOSED, "6", "cpu", 1.0),
    Aim(CLOSED, "20", "cpu", 0.6),
    Aim(CLOSED, "200", "cpu", 0.4),
    Aim(OPEN, "6", "p99", 1.2),
    Aim(BURST, "6", "p99", 1.0),
)


@dataclass(frozen=True)
class Comparison:
    """One server to another at one point."""

    point: Point
    of: str
    to: str
    cpu: Ratio
    """Processor time per admission."""
    p99: Ratio


def measured(figures: Figures) -> list[str]:
    """Return the names of the servers in a run, the subject first."""
    return [name for name in NAMES if any(name == found for _, found in figures)]


def pairs(names: list[str]) -> list[tuple[str, str]]:
    """Return who is compared with whom: evencore with each yardstick, without it Flask with Go."""
    if EVENCORE in names:
        return [(EVENCORE, other) for other in names if other != EVENCORE]
    return [(FLASK, GO)] if len(names) > 1 else []


def comparisons(figures: Figures) -> list[Comparison]:
    """Return all comparisons of a run, point by point."""
    points = dict.fromkeys(point for point, _ in figures)
    return [
        Comparison(point, of, to, *_ratios(figures[point, of], figures[point, to]))
        for point in points
        for of, to in pairs(measured(figures))
        if (point, of) in figures and (point, to) in figures
    ]


def aimed(figures: Figures) -> list[tuple[Aim, Ratio]]:
    """Return each aim with what it came to, as far as this run holds it."""
    ratios = {
        (found.point.shape, found.point.size): found
        for found in comparisons(figures)
        if (found.of, found.to) == (EVENCORE, GO)
        and (found.point.shape != CLOSED or found.point.connections == AIM_CONNECTIONS)
    }
    return [
        (aim, getattr(ratios[aim.shape, aim.size], aim.figure))
        for aim in AIMS
        if (aim.shape, aim.size) in ratios
    ]


def _ratios(ours: list[Result], theirs: list[Result]) -> tuple[Ratio, Ratio]:
    """Return the ratios of processor time per admission and of p99."""

    def ratio(figure: Callable[[Result], float]) -> Ratio:
        return paired_ratio([figure(r) for r in ours], [figure(r) for r in theirs])

    return ratio(lambda r: r.cpu_per_admission), ratio(lambda r: r.p99)
