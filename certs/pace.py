"""How often new authorities may be made: somebody who takes each away again is not to be fought."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

FREE: Final = 3
"""So many may follow each other at once: a Secret that was deleted is replaced at once."""

_MEMORY_S: Final = 3600.0
_FIRST_S: Final = 60.0
_LONGEST_S: Final = 900.0


class Pace:
    """Counts the last hour; `now`: seconds by a steady clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._made: deque[float] = deque()

    def made(self) -> None:
        """Note that one is made now."""
        self._made.append(self._now())

    def wait_s(self) -> float:
        """Tell in how many seconds the next one may be made; 0: now."""
        now = self._now()
        while self._made and self._made[0] <= now - _MEMORY_S:
            self._made.popleft()
        more = len(self._made) - FREE
        if more < 0:
            return 0.0
        pause_s = min(_FIRST_S * 2.0**more, _LONGEST_S)
        return max(0.0, self._made[-1] + pause_s - now)
