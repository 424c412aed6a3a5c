"""The client on its own: who it says it is, and current credentials from a kubeconfig."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from wire.scripted import Answer, Mute, ScriptedServer, a_list, refusal
from wire.support import PATH, FakeClock, client_of, kubeconfig, lets_in

from evencore.kube import errors
from evencore.kube.access import Access
from evencore.kube.client import Client, connect
from evencore.kube.reply import Reply
from evencore.kube.writer import Done, Later, Ref, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire.scripted import Step


def test_it_says_who_it_is(server: ScriptedServer, tmp_path: Path) -> None:
    server.script(PATH, Answer(200, b"{}"))
    client = connect(kubeconfig(tmp_path / "config", server.url, {"token": "t"}))
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


@pytest.mark.parametrize("take", [Reply.read, lambda reply: list(reply.lines())])
def test_a_length_that_no_memory_has_is_an_error_of_ours(
    server: ScriptedServer, take: Callable[[Reply], object]
) -> None:
    server.script(PATH, Answer(200, b"f" * 20 + b"\r\n{}", {"Transfer-Encoding": "chunked"}))
    client = client_of(server)
    reply = client.get(PATH)
    with pytest.raises(errors.Unavailable):
        take(reply)
    reply.close()
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
    server.brain = lets_in(wanted)
    client = connect(kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)}))
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
    server.brain = lets_in(wanted)
    path = tmp_path / "config"
    client = connect(kubeconfig(path, server.url, {"token": "now"}))
    path.unlink()
    with pytest.raises(errors.Unauthorized):
        client.get(PATH)
    assert "could not be loaded again" in caplog.text
    wanted[0] = "now"
    client.get(PATH).read()
    client.close()


def test_credentials_that_cannot_be_read_are_an_error_of_ours(server: ScriptedServer) -> None:
    def plugin() -> str:
        raise RuntimeError("s3cret")

    client = Client(lambda: Access(server.url, plugin))
    with pytest.raises(errors.Unauthorized, match="credentials could not be read") as caught:
        client.get(PATH)
    assert "s3cret" not in str(caught.value)
    assert server.seen == []
    client.close()


def ending_token(plugin: Path, token: str) -> dict[str, Any]:
    """Write a credential plugin whose token has ended the moment it is given."""
    given = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": token, "expirationTimestamp": "2020-01-01T00:00:00Z"},
    }
    plugin.write_text(f"#!/bin/sh\ncat <<'.'\n{json.dumps(given)}\n.\n")
    plugin.chmod(0o755)
    return {"exec": {"apiVersion": given["apiVersion"], "command": str(plugin)}}


def test_a_plugin_whose_token_has_ended_is_asked_again_before_the_server_refuses_it(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.script(PATH, a_list([]))
    plugin = tmp_path / "plugin"
    user = ending_token(plugin, "first")
    client = connect(kubeconfig(tmp_path / "config", server.url, user))
    ending_token(plugin, "second")
    client.get(PATH).read()
    assert server.seen[0].headers["authorization"] == "Bearer second"
    client.close()


def test_a_token_that_was_renewed_holds_up_a_write_once(
    server: ScriptedServer, tmp_path: Path, clock: FakeClock
) -> None:
    token, wanted = tmp_path / "token", ["first"]
    token.write_text("first\n")
    server.brain = lets_in(wanted)
    client = connect(kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)}))
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
