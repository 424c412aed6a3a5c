"""The arithmetic of a benchmark: percentiles, and ratios with their spread."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of `values` that `share` (0..1) of them do not exceed; NaN of none."""
    if not values:
        return math.nan
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


@dataclass(frozen=True)
class Ratio:
    """What pairs of the same rounds come to. NaN where there is no pair."""

    median: float
    low: float
    high: float


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Return the ratio ours / theirs, taken round by round.

    A pair was measured within seconds, so that a machine that is slower for a while slows both.
    Rounds in which either has no figure are left out.
    """
    pairs = [a / b for a, b in zip(ours, theirs, strict=True) if b > 0 and not math.isnan(a)]
    if not pairs:
        return Ratio(math.nan, math.nan, math.nan)
    return Ratio(statistics.median(pairs), min(pairs), max(pairs))


def median(values: Sequence[float]) -> float:
    """Return the median of the figures that are there; NaN of none."""
    known = [value for value in values if not math.isnan(value)]
    return statistics.median(known) if known else math.nan
