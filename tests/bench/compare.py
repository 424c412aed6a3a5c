"""Ratios between servers, and whether the aim is met."""

from collections.abc import Callable
from dataclasses import dataclass

from .jobs import CLOSED, Result
from .measure import Figures
from .plan import AIM_CONNECTIONS, AIM_SIZE, Point
from .servers import EVENCORE, FLASK, GO, NAMES
from .stats import Ratio, paired_ratio

AIM_RATIO = 1.5
"""Processor time to that of Go, at plan.AIM_SIZE and plan.AIM_CONNECTIONS."""


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


def aim_ratio(figures: Figures) -> Ratio | None:
    """Return the ratio that the aim is about, None if this run does not hold it."""
    for found in comparisons(figures):
        where = (found.point.shape, found.point.size, found.point.connections)
        if (found.of, found.to) == (EVENCORE, GO) and where == (CLOSED, AIM_SIZE, AIM_CONNECTIONS):
            return found.cpu
    return None


def _ratios(ours: list[Result], theirs: list[Result]) -> tuple[Ratio, Ratio]:
    """Return the ratios of processor time per admission and of p99."""

    def ratio(figure: Callable[[Result], float]) -> Ratio:
        return paired_ratio([figure(r) for r in ours], [figure(r) for r in theirs])

    return ratio(lambda r: r.cpu_per_admission), ratio(lambda r: r.p99)
