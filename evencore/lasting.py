"""What is made once and lives as long as the process: modules, above all.

While it is made, collections of garbage would walk all of it again and again, and find next to
nothing: a twentieth of a start. Later each full one would hold up admissions for milliseconds.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def lasting() -> Iterator[None]:
    """Make something that lasts. What little garbage it leaves lasts, too."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
