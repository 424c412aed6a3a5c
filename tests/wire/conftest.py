"""Fixtures of the wire tests."""

from __future__ import annotations

import ssl
import threading
from typing import TYPE_CHECKING

import pytest
from certificates import Authority
from wire.scripted import ScriptedServer
from wire.support import FakeClock, client_of

from evencore.kube.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server(clock: FakeClock) -> Iterator[ScriptedServer]:
    with ScriptedServer(clock.now) as running:
        yield running


@pytest.fixture(scope="session")
def authority() -> Authority:
    """Make who signed the certificates of the servers that speak TLS."""
    return Authority()


@pytest.fixture
def tls(authority: Authority, tmp_path: Path) -> ssl.SSLContext:
    """Make what a server of 127.0.0.1 speaks TLS with."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair, file = authority.issue(), tmp_path / "server.pem"
    file.write_bytes(pair.key + pair.certificate)
    context.load_cert_chain(file)
    return context


@pytest.fixture
def tls_server(tls: ssl.SSLContext, clock: FakeClock) -> Iterator[ScriptedServer]:
    with ScriptedServer(clock.now, tls) as running:
        yield running


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def writer(server: ScriptedServer, clock: FakeClock, stop: threading.Event) -> Iterator[Writer]:
    client = client_of(server)
    yield Writer(client, stop, clock=clock, random=lambda: 0.0)
    client.close()
