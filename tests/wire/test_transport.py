"""What goes over the wire and how: URLs, bodies, proxies, certificates of both sides."""

from __future__ import annotations

import base64
import json
import socket
import ssl
from typing import TYPE_CHECKING, Any

import pytest
from certificates import HOST, Authority
from cryptography.hazmat.primitives import serialization
from urllib3.exceptions import InsecureRequestWarning
from wire.scripted import Answer, ScriptedServer, refusal
from wire.support import PATH, FakeClock, client_of, kubeconfig
from wire.tunnel import Tunnel

from evencore.kube import errors
from evencore.kube.access import Access
from evencore.kube.client import connect
from evencore.kube.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FINE = Answer(200, b"{}")
NOWHERE = "http://127.0.0.1:1"
"""A proxy that is not there."""


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param([("limit", "100"), ("watch", "true")], id="plain"),
        pytest.param([("fieldSelector", "status.phase=Failed,metadata.name!=a")], id="selectors"),
        pytest.param([("continue", "eyJ2Ijo+/=%&?#")], id="a token of any bytes"),
        pytest.param([("labelSelector", "a in (b, ü)")], id="spaces and letters"),
    ],
)
def test_a_query_arrives_as_it_was_meant(
    server: ScriptedServer, query: list[tuple[str, str]]
) -> None:
    server.script(PATH, FINE)
    client = client_of(server)
    client.get(PATH, query).read()
    assert list(server.seen[0].query.items()) == query
    client.close()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"metadata": {"labels": {"a": None, "b": "ü\u2028\ud800"}}}, id="an object"),
        pytest.param([{"op": "test", "path": "/a~1b", "value": 1}], id="a list"),
        pytest.param({}, id="an empty object"),
    ],
)
def test_a_body_arrives_as_it_was_meant(server: ScriptedServer, body: object) -> None:
    server.script(PATH, FINE)
    client = client_of(server)
    client.write("PATCH", PATH, body, content_type="application/merge-patch+json")
    seen = server.seen[0]
    assert json.loads(seen.body) == body
    assert seen.headers["content-type"] == "application/merge-patch+json"
    assert seen.verb == "PATCH"
    client.close()


def test_without_a_body_nothing_is_sent(server: ScriptedServer) -> None:
    server.script(PATH, FINE)
    client = client_of(server)
    client.write("DELETE", PATH, None)
    assert server.seen[0].body == b""
    client.close()


def test_a_redirect_is_an_error_and_takes_no_token_anywhere(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(PATH, refusal(302, Location=f"{server.url}/elsewhere"))
    client = connect(kubeconfig(tmp_path / "config", server.url, {"token": "t"}))
    with pytest.raises(errors.Unavailable, match="answered 302"):
        client.get(PATH)
    assert [one.path for one in server.seen] == [PATH]
    client.close()


def test_a_token_that_no_header_can_hold_is_not_quoted(
    server: ScriptedServer, tmp_path: Path
) -> None:
    client = connect(kubeconfig(tmp_path / "config", server.url, {"token": "s3c\nret"}))
    with pytest.raises(errors.Unavailable, match="could not be built") as caught:
        client.get(PATH)
    assert "s3c" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert server.seen == []
    client.close()


def test_a_peer_that_vanished_is_noticed(server: ScriptedServer) -> None:
    server.script(PATH, FINE)
    transport = Transport(Access(server.url, lambda: None))
    raw = transport.send("GET", PATH, (), {}, None, connect_timeout_s=5, read_timeout_s=5)
    sock = raw.connection.sock  # type: ignore[union-attr]  it is a connection of HTTP
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
    raw.close()
    transport.close()


# Proxies.


def test_a_request_goes_through_the_proxy_of_the_kubeconfig(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(PATH, FINE)  # it is the proxy: the API server's name is nobody's
    path = kubeconfig(tmp_path / "config", "http://api.invalid", {}, **{"proxy-url": server.url})
    client = connect(path)
    client.get(PATH).read()
    assert server.seen[0].headers["host"] == "api.invalid"
    client.close()


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_tls_goes_through_the_proxy_of_the_environment_and_is_checked_behind_it(
    tls_server: ScriptedServer,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    tls_server.script(PATH, FINE)
    with Tunnel() as tunnel:
        monkeypatch.setenv(name, tunnel.url)
        for pem, fits in ((authority.pem, True), (Authority().pem, False)):
            client = connect(_trusting(tmp_path, tls_server.url, pem, {"token": "t"}))
            if fits:
                client.get(PATH).read()
            else:
                with pytest.raises(errors.Unavailable, match="check the certificate authority"):
                    client.get(PATH)
            client.close()
    assert tunnel.asked == [f"127.0.0.1:{tls_server.port}"] * 2
    assert len(tls_server.seen) == 1


def test_a_proxy_over_tls_is_checked_too(
    tls_server: ScriptedServer, authority: Authority, tls: ssl.SSLContext, tmp_path: Path
) -> None:
    tls_server.script(PATH, FINE)
    with Tunnel(tls) as tunnel:
        path = _trusting(
            tmp_path, tls_server.url, authority.pem, {"token": "t"}, **{"proxy-url": tunnel.url}
        )
        client = connect(path)
        client.get(PATH).read()
        client.close()
    assert tunnel.asked == [f"127.0.0.1:{tls_server.port}"]


def test_no_proxy_wins_over_the_proxy_of_a_kubeconfig(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(PATH, FINE)
    path = kubeconfig(tmp_path / "config", server.url, {}, **{"proxy-url": NOWHERE})
    monkeypatch.setenv("NO_PROXY", "example.com, 127.0.0.0/8")
    client = connect(path)
    client.get(PATH).read()
    client.close()
    monkeypatch.delenv("NO_PROXY")
    client = connect(path)
    with pytest.raises(errors.Unavailable, match="proxy"):
        client.get(PATH)
    client.close()


# Certificates.


def _trusting(
    directory: Path,
    server: str,
    authority: str,
    user: dict[str, Any],
    **cluster: object,
) -> str:
    inline = base64.b64encode(authority.encode()).decode()
    more = {"certificate-authority-data": inline, **cluster}
    return kubeconfig(directory / "config", server, user, **more)


def test_a_server_with_a_certificate_we_do_not_trust_is_refused_and_the_error_says_where_to_look(
    tls_server: ScriptedServer, tmp_path: Path
) -> None:
    client = connect(kubeconfig(tmp_path / "config", tls_server.url, {"token": "t"}))
    with pytest.raises(errors.Unavailable, match="check the certificate authority"):
        client.get(PATH)
    assert tls_server.seen == []
    client.close()


@pytest.mark.parametrize(("name", "fits"), [(HOST, True), ("elsewhere.example", False)])
def test_the_name_that_the_certificate_must_have_may_be_told(
    tls_server: ScriptedServer, authority: Authority, tmp_path: Path, name: str, *, fits: bool
) -> None:
    tls_server.script(PATH, FINE)
    more = {"tls-server-name": name}
    client = connect(_trusting(tmp_path, tls_server.url, authority.pem, {"token": "t"}, **more))
    if fits:
        client.get(PATH).read()
    else:
        with pytest.raises(errors.Unavailable, match="Hostname mismatch"):
            client.get(PATH)
    client.close()


def test_who_says_so_need_not_verify_anything(tls_server: ScriptedServer, tmp_path: Path) -> None:
    tls_server.script(PATH, FINE)
    skip = {"insecure-skip-tls-verify": True}
    client = connect(kubeconfig(tmp_path / "config", tls_server.url, {"token": "t"}, **skip))
    with pytest.warns(InsecureRequestWarning):
        client.get(PATH).read()
    client.close()


@pytest.fixture
def strict_server(
    tls: ssl.SSLContext, authority: Authority, clock: FakeClock
) -> Iterator[ScriptedServer]:
    """Run a server that wants to see a certificate."""
    tls.load_verify_locations(cadata=authority.pem)
    tls.verify_mode = ssl.CERT_REQUIRED
    with ScriptedServer(clock.now, tls) as running:
        yield running


def test_a_client_certificate_is_shown_and_one_that_was_replaced_is_picked_up(
    strict_server: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    strict_server.script(PATH, FINE)
    files = {"client-certificate": tmp_path / "me.crt", "client-key": tmp_path / "me.key"}
    user = {name: str(file) for name, file in files.items()}
    client = None
    for issuer, fits in ((Authority(), False), (authority, True)):
        pair = issuer.issue()
        files["client-certificate"].write_bytes(pair.certificate)
        files["client-key"].write_bytes(pair.key)
        client = client or connect(_trusting(tmp_path, strict_server.url, authority.pem, user))
        if fits:
            client.get(PATH).read()
        else:
            with pytest.raises(errors.Unavailable):
                client.get(PATH)
        client.close()


def test_a_client_certificate_that_is_gone_is_an_error_that_names_it(
    strict_server: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue()
    (tmp_path / "me.crt").write_bytes(pair.certificate)
    (tmp_path / "me.key").write_bytes(pair.key)
    user = {"client-certificate": "me.crt", "client-key": "me.key"}
    client = connect(_trusting(tmp_path, strict_server.url, authority.pem, user))
    (tmp_path / "me.crt").unlink()
    with pytest.raises(errors.Unavailable, match=r"client certificate \S+/me\.crt"):
        client.get(PATH)
    client.close()


def test_an_encrypted_key_asks_nobody_for_its_password(
    strict_server: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue()
    key = serialization.load_pem_private_key(pair.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    user = {
        "client-certificate-data": base64.b64encode(pair.certificate).decode(),
        "client-key-data": base64.b64encode(locked).decode(),
    }
    client = connect(_trusting(tmp_path, strict_server.url, authority.pem, user))
    with pytest.raises(errors.Unavailable, match="encrypted"):
        client.get(PATH)
    client.close()
