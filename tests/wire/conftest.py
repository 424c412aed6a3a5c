"""Fixtures of the wire tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from wire.scripted import ScriptedServer
from wire.support import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server(clock: FakeClock) -> Iterator[ScriptedServer]:
    with ScriptedServer(clock.now) as running:
        yield running
