"""`evencore certs` at a pocket cluster: what it says, what it does, how it exits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from certs_cluster import CONFIGURATIONS, SECRET, SECRETS, Cluster
from certs_support import an_authority, data_of
from click.testing import CliRunner, Result

from certs.aims import Aims
from certs.keeper import Clocks, Keeper
from certs.reading import read_secret
from evencore.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = "evencore-webhook.evencore-system.svc"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as made:
        made.configure()
        yield made


def kept(cluster: Cluster) -> None:
    """Have a keeper make everything."""
    clocks = Clocks(lambda: datetime.now(UTC), lambda: 1e9)
    aims = Aims(names=frozenset({HOST, "127.0.0.1"}))
    keeper = Keeper(cluster.secrets, cluster.bundles, aims, lambda *_, **__: None, clocks)
    while keeper.step() < 1.0:
        pass


def certs(cluster: Cluster, *words: str) -> Result:
    return CliRunner().invoke(main, ["certs", *words, "--kubeconfig", str(cluster.kubeconfig)])


def test_status_says_what_is_served_by_whom_and_until_when(cluster: Cluster) -> None:
    kept(cluster)
    said = certs(cluster, "status")
    assert said.exit_code == 0
    assert said.output.startswith("good: the serving certificate for 127.0.0.1, evencore-webhook.")
    assert "authority 20" in said.output
    assert "pods.evencore.io" in said.output
    machine = json.loads(certs(cluster, "status", "-o", "json").output)
    assert machine["state"] == "good"
    assert machine["serving"]["names"] == ["127.0.0.1", HOST]
    assert [one["signs"] for one in machine["authorities"]] == [True]
    assert machine["webhooks"][0]["namespaceSelector"] == "all namespaces"


def left_expired(cluster: Cluster) -> None:
    authority, made = an_authority(), datetime.now(UTC) - timedelta(days=60)
    data = data_of(authority, leaf_of=authority, made=made, names=[HOST])
    cluster.secrets.create(data)
    hooks = frozenset({"pods.evencore.io"})
    cluster.bundles.write(cluster.bundles.read(), hooks, authority.certificate)


def untrusted(cluster: Cluster) -> None:
    authority = an_authority(datetime.now(UTC))
    data = data_of(authority, leaf_of=authority, made=datetime.now(UTC), names=[HOST])
    cluster.secrets.create(data)


def for_another(cluster: Cluster) -> None:
    kept(cluster)
    data = cluster.secrets.read()
    authority = an_authority(datetime.now(UTC))
    other = data_of(authority, leaf_of=authority, made=datetime.now(UTC), names=["other.svc"])
    cluster.secrets.update(data.uid, data.version, other)


def without_hooks(cluster: Cluster) -> None:
    kept(cluster)
    cluster.api.write("DELETE", f"{CONFIGURATIONS}/evencore", {})


def rubbish(cluster: Cluster) -> None:
    cluster.secrets.create({"tls.crt": b"rubbish", "tls.key": b"rubbish"})


BROKEN = {
    "no Secret": (lambda _: None, "there is no such Secret"),
    "rubbish": (rubbish, "tls.crt holds something that is no certificate in PEM"),
    "an expired certificate": (left_expired, "the serving certificate has expired"),
    "not trusted": (untrusted, "webhook pods.evencore.io does not trust the serving certificate"),
    "for another": (for_another, f"the serving certificate is not for {HOST}"),
    "no configuration": (without_hooks, "there is no such webhook configuration"),
}


@pytest.mark.parametrize(("make", "why"), BROKEN.values(), ids=BROKEN)
def test_what_keeps_api_servers_from_calling_is_said_and_is_exit_code_1(
    cluster: Cluster,
    make: object,
    why: str,
) -> None:
    make(cluster)  # type: ignore[operator]
    said = certs(cluster, "status")
    assert (said.exit_code, said.output[:7]) == (1, "broken:")
    assert f"  {why}" in said.output
    refused = certs(cluster, "rotate")
    assert refused.exit_code == 1
    assert "the controller has to repair this first" in refused.output


def test_what_somebody_else_keeps_is_external_and_is_not_rotated(cluster: Cluster) -> None:
    kept(cluster)
    note = {"metadata": {"annotations": {"cert-manager.io/certificate-name": "webhook"}}}
    merge = "application/merge-patch+json"
    cluster.api.write("PATCH", f"{SECRETS}/{SECRET}", note, content_type=merge)
    before = cluster.secrets.read()
    assert certs(cluster, "status").output.startswith("external: the Secret belongs to cert-man")
    refused = certs(cluster, "rotate", "--ca")
    assert (refused.exit_code, "belongs to cert-manager" in refused.output) == (1, True)
    assert cluster.secrets.read() == before


def test_rotate_renews_the_certificate_and_keeps_its_names(cluster: Cluster) -> None:
    kept(cluster)
    before = read_secret(cluster.secrets.read().data)
    said = certs(cluster, "rotate")
    assert (said.exit_code, said.output) == (
        0,
        "CertificateIssued: asked for by evencore certs rotate\n",
    )
    after = read_secret(cluster.secrets.read().data)
    assert before.leaf is not None
    assert after.leaf is not None
    assert after.leaf.certificate.serial != before.leaf.certificate.serial
    assert after.leaf.names == before.leaf.names
    assert after.authorities == before.authorities


def test_rotate_ca_is_trusted_at_once_and_signs_later(cluster: Cluster) -> None:
    kept(cluster)
    before = cluster.secrets.read().data["tls.crt"]
    said = certs(cluster, "rotate", "--ca")
    assert said.exit_code == 0
    assert "the controller goes on" in said.output
    machine = json.loads(certs(cluster, "status", "-o", "json").output)
    assert machine["state"] == "rotating"
    assert len(machine["authorities"]) == len(machine["webhooks"][0]["trusts"]) == 2
    assert cluster.secrets.read().data["tls.crt"] == before
    again = certs(cluster, "rotate", "--ca")
    assert (again.exit_code, "a rotation is under way" in again.output) == (1, True)


def test_export_prints_authorities_and_writes_files_without_their_key(
    cluster: Cluster, tmp_path: Path
) -> None:
    kept(cluster)
    data = cluster.secrets.read().data
    assert certs(cluster, "export").output.encode() == data["ca.crt"]
    where = tmp_path / "out"
    assert certs(cluster, "export", "--directory", str(where)).exit_code == 0
    for name in ("tls.crt", "tls.key", "ca.crt"):
        assert (where / name).read_bytes() == data[name]
    text = "".join(path.read_text() for path in where.rglob("*") if path.is_file())
    assert data["ca.key"].decode() not in text
    (tmp_path / "file").touch()
    refused = certs(cluster, "export", "--directory", str(tmp_path / "file" / "x"))
    assert (refused.exit_code, "Not a directory" in refused.output) == (2, True)


def test_export_of_nothing_is_exit_code_1(cluster: Cluster) -> None:
    said = certs(cluster, "export")
    assert (said.exit_code, said.output) == (1, "evencore: there is no such Secret\n")


def test_a_cluster_that_cannot_be_read_is_exit_code_2(tmp_path: Path) -> None:
    where = ["--kubeconfig", str(tmp_path / "nowhere")]
    for words in (["status"], ["rotate"], ["export"]):
        said = CliRunner().invoke(main, ["certs", *words, *where])
        assert (said.exit_code, "nowhere" in said.output) == (2, True)
        told = CliRunner().invoke(main, ["certs", *words, "--help"]).output
        assert "Exit status: 0" in told
