"""A handshake with a webhook, against real servers: who signed, for whom, until when."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING

import pytest
from certificates import HOST, Authority, SecretVolume
from scripted_webhook import ScriptedWebhook, webhook_with

from evencore.handshaking import Shown, shake_hands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AUTHORITY = Authority()


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedWebhook]:
    volume = SecretVolume(tmp_path_factory.mktemp("handshake") / "tls")
    volume.write(AUTHORITY.issue())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(volume.certificate, volume.key)
    with webhook_with(context, AUTHORITY.pem) as running:
        yield running


def shown(webhook: ScriptedWebhook, name: str = HOST, bundle: str | None = AUTHORITY.pem) -> Shown:
    return shake_hands("127.0.0.1", webhook.port, name, bundle)


def test_all_is_well_and_the_certificate_says_until_when(webhook: ScriptedWebhook) -> None:
    found = shown(webhook)
    assert (found.problem, found.unreachable) == ("", False)
    assert found.not_before is not None
    assert found.not_after is not None
    assert (found.not_after - found.not_before).total_seconds() == 65 * 60
    assert webhook.sent == []  # no request was sent


def test_an_address_is_a_name_too(webhook: ScriptedWebhook) -> None:
    assert shown(webhook, "127.0.0.1").problem == ""


def test_another_authority(webhook: ScriptedWebhook) -> None:
    assert shown(webhook, bundle=Authority().pem).problem == "untrusted"
    assert shown(webhook, bundle=None).problem == "untrusted"  # nor does anybody public
    assert shown(webhook, bundle="rubbish").problem == "untrusted"


def test_during_a_rotation_both_are_in_the_bundle(webhook: ScriptedWebhook) -> None:
    assert shown(webhook, bundle=Authority().pem + AUTHORITY.pem).problem == ""


def test_a_bundle_may_hold_what_is_served_itself(tmp_path: Path) -> None:
    """As Go does it: whatever is in the bundle is trusted, signed by whomever."""
    volume = SecretVolume(tmp_path / "tls")
    pair = AUTHORITY.issue()
    volume.write(pair)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(volume.certificate, volume.key)
    with webhook_with(context, "") as running:
        assert shown(running, bundle=pair.certificate.decode()).problem == ""


def test_another_name(webhook: ScriptedWebhook) -> None:
    assert shown(webhook, "other.svc").problem == "other name"


@pytest.mark.parametrize("host", ["127.0.0.1", "does-not-exist.invalid", "", "a" * 70])
def test_nobody_there(host: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen
        found = shake_hands(host, closed.getsockname()[1], "x", AUTHORITY.pem)
    assert found.unreachable
    assert found.text
