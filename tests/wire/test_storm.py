"""Everything goes wrong at random; the picture is right in the end, and was never turned back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wire.storm import PAGE, Storm
from wire.support import FakeClock, Recorder, reflecting

from evencore.kube.reflector import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.scripted import ScriptedServer
    from wire.support import Thing


class Strict(Recorder):
    """Refuses to be told anything twice or too late: payloads are rising versions."""

    def __init__(self) -> None:
        super().__init__()
        self.newest = 0
        self.wrongs: list[str] = []

    def replace(self, objects: Mapping[str, Thing]) -> None:
        for key, obj in objects.items():
            known = self.objects.get(key)
            if known is not None and int(known.payload) > int(obj.payload):
                self.wrongs.append(f"a list turned {key} back")
        self.newest = max([self.newest, *(int(one.payload) for one in objects.values())])
        super().replace(objects)

    def upsert(self, key: str, obj: Thing) -> None:
        if int(obj.payload) <= self.newest:
            self.wrongs.append(f"{key} came twice or too late: {obj.payload} after {self.newest}")
        self.newest = int(obj.payload)
        super().upsert(key, obj)

    def delete(self, key: str) -> None:
        if key not in self.objects:
            self.wrongs.append(f"{key} was deleted twice")
        super().delete(key)


@pytest.mark.parametrize("seed", range(25))
def test_nothing_is_missed_and_nothing_done_twice_whatever_happens(
    server: ScriptedServer, clock: FakeClock, seed: int
) -> None:
    storm = Storm(seed, clock.advance)
    server.brain = storm
    strict = Strict()
    with reflecting(
        server, clock, handler=strict, rules=Rules(page_size=PAGE), random=lambda: 0.5
    ) as (reflector, _):
        strict.wait_until(
            lambda it: (
                storm.calm
                and {key: one.payload for key, one in it.objects.items()} == storm.truth()
            )
        )
        assert reflector.synced.is_set()
    assert strict.wrongs == []
    assert reflector.stats.failures > 0
    assert reflector.stats.repeats > 0
