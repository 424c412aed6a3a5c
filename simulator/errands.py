"""Errands: writes that scheduler and kubelets send off from timers and do not wait for.

For: one type for whoever has coroutines run. In a cluster it is `Background.start`; without a
loop, on a virtual clock, `at_once` runs each to its end.
Not for: answers to clients; the API waits for its writes itself.

Never send from within a change of a table: others must hear of that change first. Use a timer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

Send = Callable[[Coroutine[Any, Any, None]], None]


def at_once(work: Coroutine[Any, Any, None]) -> None:
    """Run it to its end here and now; possible as long as no admission plug-in waits."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("this write waits for something: run it within the server's loop")
