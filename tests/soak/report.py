"""What people read of stories: that they go on, and what came of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from soak.promises import Promises

if TYPE_CHECKING:
    from soak.world import World

QUIET_S: Final = 2.0
"""Who waits for longer wants to know that it goes on ..."""
AGAIN_S: Final = 10.0
"""... and is told again."""
BEGAN: Final = 1.8e9


@dataclass(slots=True)
class Report:
    """Counts of all stories that were played."""

    promises: Promises = field(default_factory=Promises)
    done: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    stories: int = 0
    virtual_s: float = 0.0
    _begin: float = field(default_factory=time.monotonic)
    _told: float = field(default_factory=lambda: time.monotonic() - AGAIN_S + QUIET_S)

    def tell(self, world: World) -> None:
        """Say on stderr how far a story is, now and then."""
        now = time.monotonic()
        if now - self._told < AGAIN_S:
            return
        self._told = now
        total_s = self.virtual_s + world.now() - BEGAN
        text = f"seed {world.seed}, {self.stories} stories before; {lasted(total_s)} in all"
        print(f"{now - self._begin:6.0f} s: {text}", file=sys.stderr, flush=True)  # noqa: T201

    def add(self, world: World) -> None:
        """Count a story that has ended well."""
        self.stories += 1
        self.virtual_s += world.now() - BEGAN
        self.promises.add(world.promises)
        self.done.update(world.done)
        self.seen.update(world.witness.seen)
        self.seen["asked about"] += world.door.asked
        self.seen["not asked about"] += world.door.missed

    def text(self) -> str:
        """Say what came of all of them."""
        took_s = time.monotonic() - self._begin
        lines = [
            f"{self.stories} stories, {lasted(self.virtual_s)} of the cluster in {lasted(took_s)}",
            "",
            f"{'what happened':<28}times",
            *(f"  {name.replace('_', ' '):<26}{n:>6}" for name, n in self.done.most_common()),
            "",
            f"{'pods':<28}",
            *(f"  {name:<26}{n:>6}" for name, n in self.seen.most_common()),
            "",
            f"{'looked at':>9}  {'tightest':>11}  promise",
        ]
        for name, tally in self.promises.kept.items():
            left = "" if tally.tightest is None else f"{tally.tightest:.1f} {tally.unit}"
            lines.append(f"{tally.checked:>9}  {left:>11}  {name}")
        return "\n".join(lines)


def lasted(seconds: float) -> str:
    """Write a time as people say it."""
    days, rest = divmod(int(seconds), 86_400)
    hours, minutes = rest // 3600, rest % 3600 // 60
    day = f"{days} d " if days else ""
    return f"{day}{hours} h {minutes} min" if days or hours else f"{minutes} min {rest % 60} s"
