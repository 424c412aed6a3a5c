"""A small API server with a memory, which misbehaves at random but never lies.

For: showing that whatever goes wrong on the way, nothing is missed and nothing comes twice.
Not for: single failures; `scripted.py` plays those one by one.
"""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Any

from wire.scripted import CLEAN, CUT, Answer, Stream, a_list, event, refusal, status, thing

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.scripted import Seen, Step

PAGE = 3


class Storm:
    """Objects that change at each request; every fourth answer or so is bad while `raging`.

    `floor` is the oldest version that a watch may start from: compaction moves it.
    """

    def __init__(self, seed: int, advance: Callable[[float], None], changes: int = 150) -> None:
        self._random = random.Random(seed)  # noqa: S311  a test that can be repeated
        self._advance = advance
        self._left = changes
        self._lock = threading.Lock()
        self._version = 10
        self._floor = 0
        self._objects: dict[str, dict[str, Any]] = {}
        self._log: list[tuple[int, bytes]] = []
        self._snapshots: dict[str, list[dict[str, Any]]] = {}

    @property
    def calm(self) -> bool:
        return self._left <= 0

    def truth(self) -> dict[str, str]:
        with self._lock:
            return {name: one["payload"] for name, one in self._objects.items()}

    def __call__(self, seen: Seen) -> Step:
        with self._lock:
            if self._left > 0:
                self._change(self._random.randint(0, 6))
                if self._random.random() < 0.1:
                    self._floor = self._version  # compaction
                    self._snapshots.clear()
                bad = self._bad()
                if bad is not None:
                    return bad
            return self._watch(seen) if seen.watch else self._list(seen)

    def _change(self, count: int) -> None:
        for _ in range(count):
            self._left -= 1
            self._version += 1
            name = f"t{self._random.randint(0, 9)}"
            old = self._objects.get(name)
            if old is not None and self._random.random() < 0.3:
                del self._objects[name]
                line = event("DELETED", thing(name, old["payload"], self._version))
            else:
                # The payload is the version, so that a test sees what is old or came before.
                new = self._objects[name] = thing(name, str(self._version), self._version)
                line = event("MODIFIED" if old else "ADDED", new)
            self._log.append((self._version, line))

    def _bad(self) -> Step | None:
        roll = self._random.random()
        answers: list[Step] = [
            refusal(500),
            refusal(429, Retry_After="2"),
            refusal(410),
            Answer(200, b"<html>"),
            Stream((b'{"metadata":{"resourceVersion":"1"},',), CUT),
            Stream((event("ERROR", status(410)),), CLEAN),
            Stream((event("ERROR", status(500)),), CLEAN),
        ]
        return self._random.choice(answers) if roll < 0.25 else None

    def _list(self, seen: Seen) -> Step:
        token = seen.query.get("continue", "")
        if token:
            version, _, start = token.partition(":")
            if version not in self._snapshots:
                return refusal(410, "the provided continue parameter is too old")
            everything, first = self._snapshots[version], int(start)
        else:
            version, first = str(self._version), 0
            everything = self._snapshots[version] = [*self._objects.values()]
        more = f"{version}:{first + PAGE}" if first + PAGE < len(everything) else ""
        return a_list(everything[first : first + PAGE], int(version), more)

    def _watch(self, seen: Seen) -> Step:
        since = int(seen.query["resourceVersion"])
        if since < self._floor:
            return Stream((event("ERROR", status(410, "too old")),), CLEAN)
        # Now and then it begins with what it has told long ago.
        told = self._random.randint(0, since) if self._random.random() < 0.3 else since
        body = b"".join(line for version, line in self._log if version > told)
        mark = {"metadata": {"resourceVersion": str(self._version)}}
        if self._left <= 0:
            return Stream(self._cut(body + event("BOOKMARK", mark)))
        if self._random.random() < 0.3:
            body += event("BOOKMARK", mark)
        if self._random.random() < 0.4:
            return Stream(self._cut(body[: self._random.randint(0, len(body))]), CUT)
        return Stream((*self._cut(body), lambda: self._advance(250.0)), CLEAN)

    def _cut(self, body: bytes) -> tuple[bytes, ...]:
        at = sorted(self._random.randint(0, len(body)) for _ in range(4))
        return tuple(body[a:b] for a, b in zip([0, *at], [*at, len(body)], strict=True) if b > a)
