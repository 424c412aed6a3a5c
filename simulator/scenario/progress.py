"""Tells who waits how far a scenario is, whenever nothing else was told for a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from evencore.patience import AFTER_S

if TYPE_CHECKING:
    from collections.abc import Callable


class Progress:
    """Hands a text to `tell` if AFTER_S real seconds have passed since something was told."""

    def __init__(
        self, tell: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._monotonic = tell, monotonic
        self._last = monotonic()

    def told(self) -> None:
        """Note that something else was told."""
        self._last = self._monotonic()

    def at(self, text: str) -> None:
        """Say how far it is, if it is time to."""
        if self._monotonic() - self._last >= AFTER_S:
            self._tell(text)
            self.told()
