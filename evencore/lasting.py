"""What is made once and lives as long as the process: modules, above all.

While it is made, collections of garbage would walk all of it again and again, and find next to
nothing: a twentieth of a start. Later each full one would hold up admissions for milliseconds.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SELDOM: Final = 20_000
"""Objects that may be garbage in a ring before anybody looks for it; Python's own number is 700.
Of 100,000 pods that are read hardly anything is a ring, and to look costs a twelfth of reading."""


@contextmanager
def lasting() -> Iterator[None]:
    """Make something that lasts. What little garbage it leaves lasts, too."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """Look for garbage seldom, in a process that takes in much and has nobody who waits for it."""
    gc.set_threshold(SELDOM)
