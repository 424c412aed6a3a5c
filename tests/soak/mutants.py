"""Mistakes that evencore could have, put in on purpose: the soak must see each.

`python -m soak.mutants [NAME ...]` plays stories with each until a promise is broken. A mistake
that no story notices is a promise that nobody looks after.
"""

from __future__ import annotations

import logging
import sys
import time
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from controller import cleaner, flock, owners, releaser, replacer, rooms
from controller import handlers as handlers_module
from evencore.domain import evidence, release, verdict
from evencore.kube import lease, writer
from evencore.kube.outcome import Done
from soak.play import play
from soak.promises import Broken
from soak.report import Report
from webhook import mutate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST: Final = 12
"""Stories that are played until one notices."""
MINUTES: Final = 45.0

Mutation = tuple[object, str, Any]


def _no_hold(*_: object) -> None:
    return None


def _hold_for_ever(*args: Any) -> Any:  # noqa: ANN401  as release
    found = _release(*args)
    return found._replace(pods=(), forced=False) if found.forced else found


def _all_at_once(*args: Any) -> Any:  # noqa: ANN401
    found = _release(*args)
    return found._replace(pods=tuple(p.uid for p in args[0].held)) if found.pods else found


def _at_once(*args: Any) -> Any:  # noqa: ANN401
    flock_, seen, rooms_, now, holds = args
    held = tuple(pod.uid for pod in flock_.held)
    if not held:
        return _release(flock_, seen, rooms_, now, holds)
    return release.Release(held[:1], "impatient", now + timedelta(seconds=1))


def _for_ever(seen: Any, rooms_: Any, now: datetime, times: Any) -> Any:  # noqa: ANN401, ARG001
    until = now + timedelta(days=1)
    return tuple(verdict.Exclusion(one.node, until, one.reason, one.rejections) for one in seen)


def _without_uid(self: Any, pod: Any, **more: Any) -> Any:  # noqa: ANN401
    return _delete_pod(self, pod._replace(uid="", version=""), **more)


def _patch_without_uid(self: Any, pod: Any, operations: Any) -> Any:  # noqa: ANN401
    return _patch_pod(self, pod._replace(uid=""), operations)


def _node_without_uid(self: Any, node: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401
    return _patch_node(self, node._replace(uid=""), *args, **more)


def _everybody_leads(self: Any, *, takes_turn: bool) -> Any:  # noqa: ANN401
    self._allowed = lambda: True
    return _enter(self, takes_turn=takes_turn)


def _never_loses(self: Any) -> Any:  # noqa: ANN401
    return None, _try(self)[1]


def _fails(*_: object, **__: object) -> Any:  # noqa: ANN401
    raise RuntimeError("a mistake of ours")


def _refuses(*_: object, **__: object) -> Any:  # noqa: ANN401
    return mutate.Decision(denial="never")


def _done(*_: object, **__: object) -> Done:
    return Done()


_release, _delete_pod = release.release, writer.Writer.delete_pod
_patch_pod, _patch_node = writer.Writer.patch_pod, writer.Writer.patch_node
_enter = writer.Writer._enter  # noqa: SLF001  what is mutated
_try = lease.Elector._try  # noqa: SLF001  as above

MUTANTS: Final[dict[str, tuple[Mutation, ...]]] = {
    "holding off": ((verdict, "_often", _no_hold), (verdict, "_nowhere", _no_hold)),
    "holding late": ((verdict, "_often", _no_hold),),
    "releasing off": ((releaser.Releaser, "let_go", lambda *_: None),),
    "room news off": ((rooms.RoomReconciler, "reconcile", lambda *_: None),),
    "room news unheard": ((rooms.RoomReconciler, "hope", lambda *_: None),),
    "room is not seen": ((handlers_module.Handlers, "_exclusive", lambda *_, **__: None),),
    "replacing off": ((replacer.Replacer, "replace", lambda *_: None),),
    "cleaning off": ((cleaner.Cleaner, "clean", lambda *_: cleaner.Cleaned()),),
    "held for longer": ((owners, "release", _hold_for_ever),),
    "all released at once": ((owners, "release", _all_at_once),),
    "released without waiting": ((owners, "release", _at_once),),
    "excluded for ever": ((verdict, "exclusions", _for_ever), (owners, "exclusions", _for_ever)),
    "evidence forgotten early": ((evidence, "MEMORY", timedelta(seconds=20)),),
    "deletes without a uid": ((writer.Writer, "delete_pod", _without_uid),),
    "patches without a uid": ((writer.Writer, "patch_pod", _patch_without_uid),),
    "nodes without a uid": ((writer.Writer, "patch_node", _node_without_uid),),
    "cleans too much": ((owners, "superfluous", lambda seen, *_: [one.uid for one in seen]),),
    "replaces whoever waits": ((replacer, "waits_in_vain", lambda pod, _: flock.waits(pod)),),
    # Who loses the Lease ends, and before each write looks whether it has it: either is enough.
    "acts without the Lease": (
        (writer.Writer, "_enter", _everybody_leads),
        (lease.Elector, "_try", _never_loses),
    ),
    "webhook fails inside": ((mutate, "decide", _fails),),
    "webhook refuses": ((mutate, "decide", _refuses),),
    "a write that is not made": ((writer.Writer, "patch_node", _done),),
}
"""Name → what is put in the place of what."""


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """Put a mistake in for a while."""
    patches = [patch.object(*mutation) for mutation in MUTANTS[name]]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def noticed(name: str, stories: int = MOST, minutes: float = MINUTES) -> tuple[int, str] | None:
    """Play stories with a mistake; returns the first seed that notices it, and how."""
    report = Report()
    with mutated(name):
        for seed in range(1, stories + 1):
            try:
                report.add(play(seed, minutes, report.tell))
            except Broken as broken:
                return seed, str(broken).split("\n", 1)[0]
    return None


def main(wanted: list[str], say: Callable[[str], None]) -> int:
    """Try all, or those that are named; returns 1 if one was not noticed."""
    missed = 0
    for name in wanted or MUTANTS:
        begin = time.monotonic()
        found = noticed(name)
        took = f"{time.monotonic() - begin:.0f} s"
        missed += found is None
        say(f"{name}: {found[1]} ({took})" if found else f"{name}: NOT NOTICED ({took})")
    return min(missed, 1)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.exit(main(sys.argv[1:], lambda text: print(text[:200], flush=True)))  # noqa: T201
