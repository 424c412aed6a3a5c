"""Fixtures of the wire tests."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from wire.scripted import ScriptedServer
from wire.support import FakeClock, client_of

from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server(clock: FakeClock) -> Iterator[ScriptedServer]:
    with ScriptedServer(clock.now) as running:
        yield running


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def writer(server: ScriptedServer, clock: FakeClock, stop: threading.Event) -> Iterator[Writer]:
    client = client_of(server)
    yield Writer(client, stop, clock=clock, random=lambda: 0.0)
    client.close()
