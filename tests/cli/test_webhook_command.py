"""`evencore webhook` as people start it: from dumps, from a cluster, and with mistakes."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml
from builders import failed, limit_range, node, pod, review
from click.testing import CliRunner
from servers import webhook
from wire.scripted import ScriptedServer, a_list

from evencore.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from builders import Review
    from servers import Running


def _admit(server: Running, request: Review) -> dict:
    status, body = server.call("POST", "/mutate?timeout=3s", request.body)
    assert status == 200
    response = json.loads(body)["response"]
    assert response["uid"] == request.request["uid"]
    patch = json.loads(base64.b64decode(response.get("patch", "W10=")))
    return {operation["path"]: operation["value"] for operation in patch}


def test_it_answers_from_dumps_of_any_number_and_form(tmp_path: Path) -> None:
    nodes = {"kind": "List", "items": [node("n1").width(4).obj, node("n2").width(4).obj]}
    (tmp_path / "nodes.json").write_text(json.dumps(nodes))
    rest = [limit_range("lr", "small").maximum("3").obj, failed("n1").obj]
    (tmp_path / "rest.yaml").write_text(yaml.safe_dump_all(rest))
    flags = ["--snapshot", str(tmp_path / "nodes.json"), "--snapshot", str(tmp_path / "rest.yaml")]
    with webhook(tmp_path, *flags) as server:
        wide = _admit(server, review(pod().cpu("5")))
        assert wide["/spec/containers/0/resources/limits/cpu"] == "8"
        steered = _admit(server, review(pod().cpu("4").owner("rs-1")))
        assert json.dumps(steered).count("metadata.name") == 1
        kept = _admit(server, review(pod().cpu("3")).with_(namespace="small"))
        assert "/spec/containers/0/resources/limits/cpu" not in kept
        status, page = server.call("GET", "/metrics")
        assert status == 200
        assert b'evencore_admission_requests_total{result="patched"} 3.0' in page
    assert server.process.returncode == 0
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert [line["event"] for line in lines if "uid" in line] == ["patched", "patched", "patched"]


def test_it_follows_a_cluster_and_is_ready_when_it_has_read_it(tmp_path: Path) -> None:
    with ScriptedServer() as cluster:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": cluster.url}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
        for path in ("namespaces", "limitranges", "pods"):
            cluster.script(f"/api/v1/{path}", a_list([]))
        cluster.otherwise("/api/v1/events", a_list([]))
        flags = ["--kubeconfig", str(tmp_path / "kubeconfig")]
        with webhook(tmp_path, *flags, ready=False) as server:
            reason = server.wait_for(503)
            assert b"waiting for the first list of" in reason
            # Fail-open: it answers before it knows anything, with the default width.
            early = _admit(server, review(pod().cpu("5")))
            assert early["/spec/containers/0/resources/limits/cpu"] == "6"
            cluster.script("/api/v1/nodes", a_list([node("n1").width(4).obj]))
            server.wait_ready()
            later = _admit(server, review(pod().cpu("5")))
            assert later["/spec/containers/0/resources/limits/cpu"] == "8"


MISTAKES = {
    "an unknown flag": (["--bund", "x"], "No such option", "--bund"),
    "a bad address": (
        ["--bind", "here"],
        "--bind (or EVENCORE_BIND): must be ADDRESS:PORT",
        "not 'here'",
    ),
    "a missing dump": (["--snapshot", "nowhere.json"], "nowhere.json"),
    "a dump that is none": (["--snapshot", "no-dump.txt"], "it is no dump of a cluster"),
    "a missing policy file": (["--policy", "nowhere.yaml"], "nowhere.yaml"),
    "a kubeconfig that is not there": (["--kubeconfig", "nowhere.conf"], "nowhere.conf"),
    "a port that does not exist": (["--bind", "127.0.0.1:99999"], "must be ADDRESS:PORT"),
    "a certificate that is not there": (
        ["--tls-cert", "a", "--tls-key", "b"],
        "cannot find a and b",
        "mount the certificate there",
    ),
    "several files": (
        [
            "--bind",
            "x",
            "--policy",
            "a.yaml",
            "--snapshot",
            "b.json",
            "--tls-cert",
            "c",
            "--tls-key",
            "d",
        ],
        "must be ADDRESS:PORT, such as 0.0.0.0:8443 or [::]:8443, not 'x'",
        "cannot find c and d",
        "--policy (or EVENCORE_POLICY): a.yaml: there is no such file",
        "--snapshot (or EVENCORE_SNAPSHOT): b.json: there is no such file",
    ),
    "a number, an address and a file": (
        ["--workers", "x", "--bind", "foo", "--policy", "a.yaml"],
        "--workers (or EVENCORE_WORKERS): must be a whole number from 1 to 64, not 'x'",
        "--bind (or EVENCORE_BIND): must be ADDRESS:PORT",
        "--policy (or EVENCORE_POLICY): a.yaml: there is no such file",
    ),
    "a certificate alone": (["--tls-cert", "a"], "--tls-cert and --tls-key: give both"),
    "a level that does not exist": (["--log-level", "loud"], "'debug', 'info', 'warning'"),
}


@pytest.mark.parametrize(
    ("flags", "words"), [(m[0], m[1:]) for m in MISTAKES.values()], ids=MISTAKES
)
def test_a_mistake_ends_it_with_2_and_a_message(
    flags: list[str], words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no-dump.txt").write_text("NAME STATUS\nn1   Ready\n")
    result = CliRunner().invoke(main, ["webhook", *flags])
    assert result.exit_code == 2
    assert [word for word in words if word not in result.output] == []
    assert "Traceback" not in result.output


def test_all_mistakes_of_a_policy_file_are_told_at_once(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("cpu: up\nroundfrom: 1\nexclusions: {initial: soon}\n")
    (tmp_path / "n1.json").write_text(json.dumps(node("n1").obj))
    flags = ["--policy", str(policy), "--snapshot", str(tmp_path / "n1.json")]
    result = CliRunner().invoke(main, ["webhook", *flags])
    assert result.exit_code == 2
    lines = result.output.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"evencore: {policy}: ") for line in lines)
    assert re.search(r"cpu: must be 'round-up', 'warn', 'deny' or 'keep', not 'up'", result.output)
    assert re.search(r"roundfrom: unknown; allowed here: .*roundFrom", result.output)
    assert re.search(r"exclusions.initial: write a duration such as 90s", result.output)


def test_a_policy_file_is_one_document(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("cpu: keep\n---\ncpu: warn\n")
    result = CliRunner().invoke(main, ["webhook", "--policy", str(policy)])
    assert (result.exit_code, "one document" in result.output) == (2, True)
