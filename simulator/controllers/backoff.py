"""How long something that failed is left alone: doubling, up to a limit, forgotten in the end.

Kubernetes: client-go util/flowcontrol.Backoff: an entry counts from its last failure and is
started anew when twice the limit has passed without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


class BackOff:
    """Waits by key, `first` seconds and then twice as long each time, at most `longest`."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._entries: dict[Hashable, tuple[float, float]] = {}  # wait, since

    def left(self, key: Hashable, now: float) -> float:
        """Tell how many seconds a key has to wait still; 0: none."""
        wait, since = self._entries.get(key, (0.0, now))
        return max(0.0, since + wait - now)

    def failed(self, key: Hashable, now: float) -> None:
        """Note a failure: the next wait begins now."""
        wait, since = self._entries.get(key, (0.0, now))
        if not wait or now - since > 2 * self._longest:
            self._entries[key] = self._first, now
        else:
            self._entries[key] = min(2 * wait, self._longest), now
