"""A pocket cluster for the wire tests, one for each test: it starts in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulator_support import Wire

from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer() as running:
        yield running


@pytest.fixture
def api() -> Iterator[Wire]:
    with ApiServer(Options(secure=False)) as running, Wire(running) as wire:
        yield wire
