"""Certificates in a pocket cluster, with real webhooks and controllers: nobody notices anything."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from certs_cluster import EVENCORE, NAMESPACE, Cluster, Load, Probes, until

from certs.reading import read_bundle, read_secret

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

QUICK = ("--cert-spread", "7s", "--cert-overlap", "7s")


def certs(cluster: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `evencore certs`."""
    where = ["--kubeconfig", str(cluster.kubeconfig), "-n", NAMESPACE]
    return subprocess.run(
        [EVENCORE, "certs", *words, *where], capture_output=True, text=True, check=False
    )


def serving(cluster: Cluster) -> str:
    return cluster.secrets.read().data["tls.crt"].decode().strip()


def all_serve(cluster: Cluster, certificate: str) -> bool:
    return all(cluster.served(port).strip() == certificate for _, port in cluster.webhooks)


def authorities(cluster: Cluster) -> int:
    (entry,) = cluster.bundles.read().entries
    return len(read_bundle(entry.ca_bundle)[0])


def test_a_certificate_and_an_authority_are_replaced_under_load_and_nobody_notices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.configure()
        controller = cluster.controller("controller", *QUICK)
        cluster.webhook("webhook-a")
        cluster.webhook("webhook-b")
        cluster.serve()
        until(lambda: authorities(cluster) == 1, controller.log)
        assert all_serve(cluster, serving(cluster))
        load, probes = Load(cluster.server), Probes(cluster)
        with load.running(), probes.running():
            first = serving(cluster)
            assert certs(cluster, "rotate").returncode == 0
            second = serving(cluster)
            assert second != first
            until(lambda: all_serve(cluster, second), controller.log)
            after_leaf = load.admitted

            asked = certs(cluster, "rotate", "--ca")
            assert asked.returncode == 0, asked
            assert authorities(cluster) == 2
            again = certs(cluster, "rotate", "--ca")
            assert (again.returncode, "a rotation is under way" in again.stderr) == (1, True)
            until(lambda: serving(cluster) != second, controller.log)
            third = serving(cluster)
            assert authorities(cluster) == 2
            until(lambda: all_serve(cluster, third), controller.log)
            until(lambda: authorities(cluster) == 1, controller.log)
            seen = load.admitted
            until(lambda: load.admitted > seen + 200, controller.log)
        held = read_secret(cluster.secrets.read().data)
        assert len(held.authorities) == 1
        assert load.failed == probes.failed == []
        assert len(probes.serials) == 3
        assert load.unmutated == 0
        assert load.admitted > after_leaf > 0
        status = certs(cluster, "status")
        assert (status.returncode, status.stdout[:4]) == (0, "good"), status
    with capsys.disabled():
        print(  # noqa: T201  figures are for people
            f"\na certificate and its authority replaced under load: {load.admitted} admissions by "
            f"the API server and {probes.calls} over new connections, "
            f"{len(load.failed + probes.failed)} failed, {load.unmutated} pods not mutated"
        )
