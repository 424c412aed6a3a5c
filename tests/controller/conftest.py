"""A pocket cluster's API server, or one that plays a script, for each test that needs it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import controller_parts
import pytest
from wire.scripted import ScriptedServer
from wire.support import FakeClock, client_of

from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def kube(tmp_path: Path) -> Iterator[controller_parts.Kube]:
    with controller_parts.kube(tmp_path) as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server(clock: FakeClock) -> Iterator[ScriptedServer]:
    with ScriptedServer(clock.now) as running:
        yield running


@pytest.fixture
def writer(server: ScriptedServer, clock: FakeClock) -> Iterator[Writer]:
    client = client_of(server)
    yield Writer(client, threading.Event(), clock=clock, random=lambda: 0.0)
    client.close()


@pytest.fixture
def time() -> controller_parts.Time:
    return controller_parts.Time()
