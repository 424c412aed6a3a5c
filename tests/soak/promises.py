"""What is promised, how often it was looked at, and how near it came to being broken.

Not for: looking; that is `witness` and `calm`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MISTAKE = "nothing fails inside"


class Broken(AssertionError):  # noqa: N818  what happened
    """A promise was broken; says which, and what led to it."""


@dataclass(slots=True)
class Tally:
    """One promise."""

    checked: int = 0
    tightest: float | None = None
    unit: str = ""


@dataclass(slots=True)
class Promises:
    """All of them. What is broken is kept for who plays the story: no process may swallow it."""

    kept: dict[str, Tally] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def holds(self, promise: str, wrong: str | None) -> None:
        """Note that a promise was looked at; `wrong` says how it was broken, if it was."""
        self.kept.setdefault(promise, Tally()).checked += 1
        if wrong is not None:
            self.broken.append(f"{promise}: {wrong}")

    def within(self, promise: str, margin: float, unit: str, wrong: str) -> None:
        """Note how much was left until a promise would be broken; below 0 it is."""
        tally = self.kept.setdefault(promise, Tally(unit=unit))
        if tally.tightest is None or margin < tally.tightest:
            tally.tightest = margin
        self.holds(promise, wrong if margin < 0 else None)

    def no_mistake(self, what: str | None) -> None:
        """Note that something went well inside, or what went wrong there."""
        self.holds(MISTAKE, what)

    def add(self, others: Promises) -> None:
        """Take in what was counted in another story."""
        for name, tally in others.kept.items():
            mine = self.kept.setdefault(name, Tally(unit=tally.unit))
            mine.checked += tally.checked
            found = [one for one in (mine.tightest, tally.tightest) if one is not None]
            mine.tightest = min(found, default=None)
