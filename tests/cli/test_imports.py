"""A process pays only for what it uses: what a command must not have imported, by its module.

What comes later in a worker is shown to work over the wire, in tests/webhook and in
test_webhook_command.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from certs_cluster import Cluster, until
from certs_support import an_authority, data_of

if TYPE_CHECKING:
    from pathlib import Path

_PEOPLE = ("evencore.explain", "evencore.explain_command", "evencore.admin", "simulator")
_FILES = ("evencore.files", "evencore.kubeyaml", "evencore.domain.collect")
_LATER = (
    "difflib",
    "gunicorn.glogging",
    "hashlib",
    "logging.config",
    "http.client",
    "prometheus_client",
    "structlog",
    "urllib.request",
    "urllib3",
)
"""What nobody needs who only answers."""
_ANSWERS = ("flask", "asgiref", "webhook.app", "webhook.mutate", "evencore.kube.snapshots")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        pytest.param(
            "evencore.cli",
            (*_PEOPLE, *_FILES, *_ANSWERS, "controller", "evencore.kube", "gunicorn", "yaml"),
            id="the list of commands",
        ),
        pytest.param(
            "evencore.webhook_command",
            (*_PEOPLE, *_FILES, *_ANSWERS, *_LATER, "controller", "evencore.kube.client"),
            id="the process that watches over the webhook's workers",
        ),
        pytest.param(
            "evencore.webhook_worker",
            (*_PEOPLE, *_FILES, *_LATER, "controller", "flask", "evencore.kube.snapshots"),
            id="a worker",
        ),
        pytest.param(
            "evencore.webhook_certificate", (*_LATER, "cryptography", "evencore.kube"),
            id="who serves what a Secret holds",
        ),
        pytest.param(
            "evencore.kube.configuration", (*_LATER, "kubernetes", "yaml"),
            id="who looks where the API server is",
        ),
        pytest.param(
            "evencore.controller_command", (*_PEOPLE, *_FILES, "gunicorn", "structlog", "webhook"),
            id="the controller",
        ),
        pytest.param("evencore.explain_wiring", ("evencore.kube",), id="explain"),
    ],
)  # fmt: skip
def test_who_asks_for_one_thing_does_not_import_another(
    module: str, unwanted: tuple[str, ...]
) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    imported = done.stdout.split()
    assert module in imported
    assert sorted(set(unwanted) & set(imported)) == []


def test_a_webhook_that_waits_for_a_secret_and_serves_it_never_imports_cryptography(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # each import is told in the log
    with Cluster(tmp_path) as cluster:
        webhook = cluster.webhook("webhook")
        (_, port), *_ = cluster.webhooks
        until(lambda: cluster.ready(port)[0], webhook.log)
        authority = an_authority(datetime.now(UTC))
        cluster.secrets.create(data_of(authority, leaf_of=authority, made=datetime.now(UTC)))
        cluster.serve()
        imported = {line.rpartition("|")[2].strip() for line in webhook.log().splitlines()}
    assert {"certs.follower", "evencore.kube.secrets", "webhook.mutate"} <= imported
    assert sorted(name for name in imported if name.startswith("cryptography")) == []
