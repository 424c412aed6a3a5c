"""How often Python looks for cycles of garbage, in a process that is a cluster and nothing else.

The store is trees of dicts, a hundred for each pod; looking through them all for cycles took a
sixth of the time of a busy cluster, and there are hardly any: counting references frees them.
"""

from __future__ import annotations

import gc
from typing import Final

_YOUNG: Final = 20_000
_MIDDLE: Final = 20
_OLD: Final = 100


def collect_rarely() -> None:
    """Let more be made before the next look; for the whole process."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
