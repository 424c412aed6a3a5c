"""The client on its own: who it says it is, current credentials, TLS, and quick ends."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import threading
import time
from typing import TYPE_CHECKING

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from wire.scripted import Answer, Mute, ScriptedServer, Stream, a_list, event, refusal, thing
from wire.support import PATH, THINGS, FakeClock, Recorder, Thing, client_of

from evencore.kube import configuration, errors
from evencore.kube.client import Client, connect
from evencore.kube.reflector import Reflector
from evencore.kube.writer import Done, Later, Ref, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kubernetes.client.configuration import Configuration
    from wire.scripted import Seen, Step


def _kubeconfig(path: Path, server: str, user: dict[str, str]) -> str:
    content = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def _lets_in(wanted: list[str]) -> Callable[[Seen], Step]:
    """Make a server that knows one token: the one that `wanted` holds at the moment."""

    def brain(seen: Seen) -> Step:
        if seen.headers.get("authorization", "").lower() != f"bearer {wanted[0]}":
            return refusal(401, "Unauthorized")
        return Stream() if seen.watch else a_list([thing("a")])

    return brain


def test_it_says_who_it_is(server: ScriptedServer, tmp_path: Path) -> None:
    server.script(PATH, Answer(200, b"{}"))
    client = connect(_kubeconfig(tmp_path / "config", server.url, {"token": "t"}))
    assert client.get(PATH).read() == b"{}"
    seen = server.seen[0]
    assert seen.headers["user-agent"].startswith("evencore/")
    assert seen.headers["authorization"] == "Bearer t"
    assert client.server == server.url
    client.close()


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (refusal(404), errors.NotFound),
        (refusal(409), errors.Conflict),
        (refusal(410), errors.Gone),
        (refusal(429, Retry_After="3"), errors.Throttled),
        (Answer(503, b"x" * 1_000_000), errors.Unavailable),
        (Answer(500, b""), errors.Unavailable),
    ],
)
def test_a_refusal_is_one_request_and_one_error(
    server: ScriptedServer, step: Step, kind: type[errors.KubeError]
) -> None:
    server.script(PATH, step)
    client = client_of(server)
    with pytest.raises(kind) as caught:
        client.get(PATH)
    assert len(server.seen) == 1
    assert f"GET {PATH} at {server.url}" in str(caught.value)
    assert len(str(caught.value)) < 500
    client.close()


def test_silence_is_an_error_of_its_own(server: ScriptedServer) -> None:
    server.script(PATH, Mute())
    client = client_of(server)
    with pytest.raises(errors.Silent):
        client.get(PATH, read_timeout_s=0.1)
    client.close()


def test_connections_are_used_again(server: ScriptedServer) -> None:
    server.script(PATH, *[a_list([])] * 3)
    client = client_of(server)
    for _ in range(3):
        reply = client.get(PATH)
        reply.read()
        reply.close()
    assert server.connections == 1
    client.close()


def test_a_token_file_that_changed_is_read_again_when_the_old_token_is_refused(
    server: ScriptedServer, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    wanted = ["first"]
    server.brain = _lets_in(wanted)
    client = connect(_kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)}))
    client.get(PATH).read()
    token.write_text("second\n")
    wanted[0] = "second"
    with pytest.raises(errors.Unauthorized):
        client.get(PATH)
    client.get(PATH).read()
    client.close()


def test_a_configuration_that_is_gone_keeps_the_old_one_in_use(
    server: ScriptedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = ["later"]
    server.brain = _lets_in(wanted)
    path = tmp_path / "config"
    client = connect(_kubeconfig(path, server.url, {"token": "now"}))
    path.unlink()
    with pytest.raises(errors.Unauthorized):
        client.get(PATH)
    assert "could not be loaded again" in caplog.text
    wanted[0] = "now"
    client.get(PATH).read()
    client.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate for 127.0.0.1 that is its own authority, and its key in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def tls_server(certificate: Path, clock: FakeClock) -> Iterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ScriptedServer(clock.now, context) as running:
        yield running


@pytest.fixture
def in_cluster(tls_server: ScriptedServer, certificate: Path, tmp_path: Path) -> Client:
    """Make a client as in a pod, whose service account is in tmp_path."""
    (tmp_path / "token").write_text("first")
    (tmp_path / "ca.crt").write_bytes(certificate.read_bytes())
    environ = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(tls_server.port),
    }
    return Client(lambda: configuration.load(environ=environ, account=tmp_path))


def test_in_a_pod_a_token_that_changed_is_picked_up_by_a_reflector_at_work(
    tls_server: ScriptedServer, in_cluster: Client, tmp_path: Path, clock: FakeClock
) -> None:
    wanted = ["second"]
    tls_server.brain = _lets_in(wanted)
    (tmp_path / "token").write_text("second")  # after the client has read the first
    recorder, stop = Recorder(), threading.Event()
    reflector = Reflector(in_cluster, THINGS, Thing, recorder, clock=clock)
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    recorder.wait_calls(("replace", ["a"]))
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert [one.headers["authorization"] for one in tls_server.seen[:2]] == [
        "bearer first",
        "bearer second",
    ]
    in_cluster.close()


def test_a_silent_watch_over_tls_ends_within_a_moment(
    tls_server: ScriptedServer, in_cluster: Client, clock: FakeClock
) -> None:
    tls_server.script(PATH, a_list([]), Stream((event("ADDED", thing("b")),)))
    recorder, stop = Recorder(), threading.Event()
    reflector = Reflector(in_cluster, THINGS, Thing, recorder, clock=clock)
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    recorder.wait_until(lambda it: "b" in it.objects)
    started = time.monotonic()
    stop.set()
    thread.join(5)
    assert time.monotonic() - started < 1.0
    assert reflector.stats.failures == 0
    in_cluster.close()


def test_a_server_with_a_certificate_we_do_not_trust_is_refused_and_the_error_says_where_to_look(
    tls_server: ScriptedServer, tmp_path: Path
) -> None:
    client = connect(_kubeconfig(tmp_path / "config", tls_server.url, {"token": "t"}))
    with pytest.raises(errors.Unavailable, match="check the certificate authority"):
        client.get(PATH)
    assert tls_server.seen == []
    client.close()


def test_credentials_that_cannot_be_read_are_an_error_of_ours(
    server: ScriptedServer, tmp_path: Path
) -> None:
    def load() -> Configuration:
        found = configuration.load(_kubeconfig(tmp_path / "config", server.url, {"token": "t"}))

        def hook(_: object) -> None:
            raise PermissionError("token")

        found.refresh_api_key_hook = hook  # as the in-cluster loader has it
        return found

    client = Client(load)
    with pytest.raises(errors.Unauthorized, match="credentials could not be read"):
        client.get(PATH)
    client.close()


def test_a_token_that_was_renewed_holds_up_a_write_once(
    server: ScriptedServer, tmp_path: Path, clock: FakeClock
) -> None:
    token, wanted = tmp_path / "token", ["first"]
    token.write_text("first\n")
    server.brain = _lets_in(wanted)
    client = connect(_kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)}))
    writer = Writer(client, threading.Event(), clock=clock)
    pod = Ref("team", "web-1", "uid-1")
    assert isinstance(writer.delete_pod(pod), Done)
    token.write_text("second\n")
    wanted[0] = "second"
    outcome = writer.delete_pod(pod)
    assert isinstance(outcome, Later)
    clock.advance(outcome.seconds)
    assert isinstance(writer.delete_pod(pod), Done)
    assert len(server.seen) == 3
    client.close()
