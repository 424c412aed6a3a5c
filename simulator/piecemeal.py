"""Much to do at one moment, some at a time.

Within the action of one timer thousands of deletes would keep the API server from answering for
seconds: `ticking` gives it a turn only between two actions.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulator.clock import Clock

T = TypeVar("T")

AT_ONCE: Final = 20


def piecemeal(
    clock: Clock,
    items: Sequence[T],
    act: Callable[[T], None],
    then: Callable[[], None] = lambda: None,
) -> None:
    """Act on each item at this moment of the clock, the first ones at once; `then` at the end."""
    left = iter(items)

    def some() -> None:
        done = 0
        for item in islice(left, AT_ONCE):
            act(item)
            done += 1
        if done == AT_ONCE:
            clock.after(0, some)
        else:
            then()

    some()
