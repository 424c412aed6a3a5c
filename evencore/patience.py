"""Tells who waits at a terminal what takes so long, and nothing if it does not take long."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable

AFTER_S: Final = 2.0
"""What takes less than this needs no explanation."""

_LARGE = 64 << 20
"""Characters of a file that certainly take longer; JSON is parsed in one go, and nothing else runs
meanwhile, so it must be told before."""


class Patience:
    """Within a `with` block, hands the present step to `tell` once AFTER_S have passed."""

    def __init__(self, tell: Callable[[str], None], after_s: float = AFTER_S) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._step = ""
        self._late = False
        self.timer = threading.Timer(after_s, self._awake)
        self.timer.daemon = True

    def __enter__(self) -> Self:
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        with self._lock:
            self._step = ""

    def doing(self, step: str, *, long: bool = False) -> None:
        """Say what is done now; `long`: it will take more than AFTER_S by itself."""
        with self._lock:
            self._step = "" if self._late or long else step
            if self._late or long:
                self._tell(f"{step} …")

    def reading(self, name: str, size: int) -> None:
        """Say that a file is parsed now; for `files.read_documents`."""
        self.doing(f"reading {name} ({size / 1e6:.0f} MB)", long=size > _LARGE)

    def _awake(self) -> None:
        with self._lock:
            self._late = True
            if self._step:
                self._tell(f"{self._step} …")
