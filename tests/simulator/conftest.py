"""A pocket cluster for the wire tests, one for each test: it starts in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scripted_webhook import SERVICE, ScriptedWebhook, scripted_webhook
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


@pytest.fixture(scope="module")
def running_webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedWebhook]:
    with scripted_webhook(tmp_path_factory.mktemp("webhook")) as webhook:
        yield webhook


@pytest.fixture
def webhook(running_webhook: ScriptedWebhook) -> ScriptedWebhook:
    running_webhook.forget()
    return running_webhook


@pytest.fixture
def hooked(webhook: ScriptedWebhook) -> Iterator[Wire]:
    """Give an API whose server finds the webhook by its Service."""
    services = {SERVICE: ("127.0.0.1", webhook.port)}
    with ApiServer(Options(secure=False, services=services)) as server, Wire(server) as wire:
        yield wire
