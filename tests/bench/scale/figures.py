"""What was measured, each figure beside its limit."""

import json
import math
import time
from dataclasses import dataclass

from .crowded import Crowd

_REPEATS = 400


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of one size of cluster."""

    what: str
    size: str
    value: float
    unit: str
    limit: float | None = None
    """None: nobody set one; it explains others."""
    at_least: bool = False
    """The limit is the least that will do, not the most."""
    yards: float | None = None
    """The same in calls of json.loads with a pod, timed just before and after."""

    @property
    def met(self) -> bool | None:
        """Whether it is within its limit; None without one."""
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


class Yard:
    """What json.loads takes for a pod on this machine now: its processor time, in seconds."""

    def __init__(self) -> None:
        self._pod = Crowd(10, 100, 0).pod(0, 1)

    def measure(self) -> float:
        """Time it; some 40 ms."""
        began = time.thread_time()
        for _ in range(_REPEATS):
            json.loads(self._pod)
        return (time.thread_time() - began) / _REPEATS


def rows(figures: list[Figure], sizes: list[str]) -> list[list[str]]:
    """Return a row per thing measured, with a column per size."""
    found = {(f.what, f.size): f for f in figures}
    made = []
    for what in dict.fromkeys(f.what for f in figures):
        here = [found.get((what, size)) for size in sizes]
        last = next(f for f in reversed(here) if f)
        limit = f"{'≥' if last.at_least else '≤'} {number(last.limit)}" if last.limit else ""
        said = {None: "", True: "ok", False: "NOT met"}[last.met]
        values = [number(f.value) if f else "" for f in here]
        yards = f"{last.yards:.2f}" if last.yards is not None else ""
        made.append([what, *values, last.unit, yards, limit, said])
    return made


def number(value: float) -> str:
    """Write a figure as short as it can be read."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
