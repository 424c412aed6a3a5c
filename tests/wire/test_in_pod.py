"""As in a pod: the account that a kubelet mounts, over TLS."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from certificates import Authority
from wire.scripted import Answer, ScriptedServer, Stream, a_list, event, thing
from wire.support import PATH, THINGS, FakeClock, Recorder, Thing, lets_in
from wire.tunnel import Tunnel

from evencore.kube import account, configuration, errors
from evencore.kube.client import Client
from evencore.kube.reflector import Reflector

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def mounted(authority: Authority, tmp_path: Path) -> Path:
    """Make what a kubelet mounts into a pod."""
    directory = tmp_path / "serviceaccount"
    directory.mkdir()
    (directory / "token").write_text("first\n")
    (directory / "ca.crt").write_text(authority.pem)
    return directory


@pytest.fixture
def environ(tls_server: ScriptedServer) -> dict[str, str]:
    return {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(tls_server.port),
    }


@pytest.fixture
def client(environ: dict[str, str], mounted: Path) -> Iterator[Client]:
    made = Client(lambda: configuration.load(environ=environ, account=mounted))
    yield made
    made.close()


def test_a_token_that_changed_is_picked_up_by_a_reflector_at_work(
    tls_server: ScriptedServer, client: Client, mounted: Path, clock: FakeClock
) -> None:
    tls_server.brain = lets_in(["second"])
    (mounted / "token").write_text("second")  # after the client has read the first
    recorder, stop = Recorder(), threading.Event()
    reflector = Reflector(client, THINGS, Thing, recorder, clock=clock)
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    recorder.wait_calls(("replace", ["a"]))
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert [one.headers["authorization"] for one in tls_server.seen[:2]] == [
        "Bearer first",
        "Bearer second",
    ]


def test_a_token_is_read_again_every_minute_before_anybody_refuses_the_old_one(
    tls_server: ScriptedServer, environ: dict[str, str], mounted: Path, clock: FakeClock
) -> None:
    tls_server.script(PATH, *[a_list([])] * 3)
    client = Client(lambda: account.access(environ, mounted, clock.now))
    (mounted / "token").write_text("second")
    for passes_s in (0.0, 59.0, 1.0):
        clock.advance(passes_s)
        client.get(PATH).read()
    sent = [one.headers["authorization"] for one in tls_server.seen]
    assert sent == ["Bearer first", "Bearer first", "Bearer second"]
    client.close()


def test_a_token_that_is_gone_for_a_moment_is_an_error_for_that_moment(
    tls_server: ScriptedServer, environ: dict[str, str], mounted: Path, clock: FakeClock
) -> None:
    tls_server.script(PATH, a_list([]))
    client = Client(lambda: account.access(environ, mounted, clock.now))
    (mounted / "token").rename(mounted / "hidden")
    clock.advance(60)
    with pytest.raises(errors.Unauthorized, match="credentials could not be read"):
        client.get(PATH)
    assert tls_server.seen == []
    (mounted / "hidden").rename(mounted / "token")
    client.get(PATH).read()
    client.close()


def test_a_silent_watch_over_tls_ends_within_a_moment(
    tls_server: ScriptedServer, client: Client, clock: FakeClock
) -> None:
    tls_server.script(PATH, a_list([]), Stream((event("ADDED", thing("b")),)))
    recorder, stop = Recorder(), threading.Event()
    reflector = Reflector(client, THINGS, Thing, recorder, clock=clock)
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    recorder.wait_until(lambda it: "b" in it.objects)
    started = time.monotonic()
    stop.set()
    thread.join(5)
    assert time.monotonic() - started < 1.0
    assert reflector.stats.failures == 0


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(Authority().pem, id="somebody else's"),
        pytest.param("a certificate", id="no certificate"),
        pytest.param(None, id="gone"),
    ],
)
def test_an_authority_that_does_not_fit_is_told_and_read_again_for_the_next_request(
    tls_server: ScriptedServer,
    client: Client,
    mounted: Path,
    authority: Authority,
    before: str | None,
) -> None:
    tls_server.script(PATH, Answer(200, b"{}"))
    file = mounted / "ca.crt"
    file.unlink()
    if before is not None:
        file.write_text(before)
    for _ in range(2):
        with pytest.raises(errors.Unavailable, match="check the certificate authority"):
            client.get(PATH)
    assert tls_server.seen == []
    file.write_text(authority.pem)
    client.get(PATH).read()


def test_a_server_whose_authority_was_changed_at_work_costs_one_request(
    tls_server: ScriptedServer, client: Client, mounted: Path, tmp_path: Path
) -> None:
    tls_server.script(PATH, *[Answer(200, b"{}", {"Connection": "close"})] * 2)
    client.get(PATH).read()
    other = Authority()
    pair, file = other.issue(), tmp_path / "other.pem"
    file.write_bytes(pair.key + pair.certificate)
    tls_server.tls.load_cert_chain(file)
    (mounted / "ca.crt").write_text(other.pem)
    with pytest.raises(errors.Unavailable, match="check the certificate authority"):
        client.get(PATH)
    client.get(PATH).read()


def test_an_authority_that_a_proxy_does_not_fit_is_read_again_too(  # noqa: PLR0913, PLR0917  what is in a pod
    tls_server: ScriptedServer,
    tls: ssl.SSLContext,
    authority: Authority,
    environ: dict[str, str],
    mounted: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tls_server.script(PATH, Answer(200, b"{}"))
    (mounted / "ca.crt").write_text(Authority().pem)
    with Tunnel(tls) as tunnel:
        monkeypatch.setenv("https_proxy", tunnel.url)
        monkeypatch.setenv("no_proxy", "")
        client = Client(lambda: configuration.load(environ=environ, account=mounted))
        with pytest.raises(errors.Unavailable, match="check the certificate authority"):
            client.get(PATH)
        (mounted / "ca.crt").write_text(authority.pem)
        client.get(PATH).read()
        client.close()


CHILD = """
import sys
from pathlib import Path
from evencore.kube import configuration
from evencore.kube.client import connect

configuration.SERVICE_ACCOUNT = Path(sys.argv[1])
client = connect()
print(client.get(sys.argv[2]).read().decode())
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_process_in_a_pod_never_imports_the_official_client(
    tls_server: ScriptedServer, environ: dict[str, str], mounted: Path
) -> None:
    tls_server.script(PATH, Answer(200, b'"here"'))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "KUBECONFIG" and not name.lower().endswith("_proxy")
    }
    said = subprocess.run(
        [sys.executable, "-c", CHILD, str(mounted), PATH],
        env={**inherited, **environ},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answer, modules = said.stdout.splitlines()
    assert answer == '"here"'
    assert "'urllib3'" in modules
    for heavy in ("kubernetes", "pydantic", "yaml", "requests"):
        assert f"'{heavy}'" not in modules
