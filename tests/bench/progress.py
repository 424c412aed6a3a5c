"""Tells on standard error how far a run is: one line that changes, or a line now and then."""

import sys
import time

_EVERY_SECONDS = 15.0


def note(text: str) -> None:
    """Say what is being done: on a terminal in place of what was said last."""
    sys.stderr.write(f"\r\x1b[Kbench: {text}" if sys.stderr.isatty() else f"bench: {text}\n")
    sys.stderr.flush()


def clear() -> None:
    """Clear the line on a terminal, so that what is printed next stands alone."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class Progress:
    """Counts `steps` that take about as long as each other."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 0
        self._began = time.monotonic()
        self._told = float("-inf")
        self._live = sys.stderr.isatty()

    def step(self, text: str) -> None:
        """Say which step begins; off a terminal only every 15 s or so."""
        now = time.monotonic()
        if self._step == 0:
            self._began = now
        if self._live or now - self._told >= _EVERY_SECONDS:
            self._told = now
            note(f"{self._step + 1}/{self._steps} {text}{self._left(now)}")
        self._step += 1

    def _left(self, now: float) -> str:
        """Return the time left, from the steps so far."""
        if not self._step:
            return ""
        seconds = (now - self._began) / self._step * (self._steps - self._step)
        return f", about {seconds:.0f} s left"
