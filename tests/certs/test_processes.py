"""Real webhooks and controllers in a pocket cluster: starts, kills, rubbish, others' Secrets."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from certificates import Authority
from certs_cluster import CONFIGURATIONS, EVENCORE, SECRET, SECRETS, Cluster, until
from certs_support import an_authority, data_of, verifies

from certs.reading import read_bundle, read_certificate, read_secret

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.processes import Process

HOST = "evencore-webhook.evencore-system.svc"
MERGE = "application/merge-patch+json"
WITHIN_S = 60.0


def put(cluster: Cluster, **data: bytes) -> None:
    encoded = {
        key.replace("_", "."): base64.b64encode(value).decode() for key, value in data.items()
    }
    cluster.api.write("PATCH", f"{SECRETS}/{SECRET}", {"data": encoded}, content_type=MERGE)


def trusted(cluster: Cluster, port: int) -> bool:
    (entry,) = cluster.bundles.read().entries
    served = cluster.served(port)
    return bool(served) and verifies(served.encode(), read_bundle(entry.ca_bundle)[0])


def leader(processes: list[Process]) -> Process | None:
    return next((one for one in processes if one.alive and " leads" in one.log()), None)


def test_all_start_at_once_and_are_killed_and_the_secret_goes(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.configure()
        cluster.webhook("webhook-a")
        cluster.webhook("webhook-b")
        controllers = [cluster.controller("one"), cluster.controller("two")]
        cluster.serve()
        held = read_secret(cluster.secrets.read().data)
        assert len(held.authorities) == 1
        until(
            lambda: all(trusted(cluster, port) for _, port in cluster.webhooks), controllers[0].log
        )
        until(cluster.mutated, controllers[0].log)

        # The one that works is killed; then the Secret is deleted.
        working = leader(controllers)
        assert working is not None
        working.kill()
        (other,) = [one for one in controllers if one is not working]
        cluster.api.write("DELETE", f"{SECRETS}/{SECRET}", {})
        until(lambda: cluster.secrets.read().uid, other.log)
        until(lambda: read_secret(cluster.secrets.read().data).leaf, other.log)
        assert cluster.mutated()  # webhooks serve the old one still, and it is trusted
        fresh = cluster.secrets.read().data["tls.crt"].decode().strip()
        until(
            lambda: all(cluster.served(p).strip() == fresh for _, p in cluster.webhooks), other.log
        )
        assert cluster.mutated()

        # Rubbish: replaced once, with a message; nobody serves it.
        put(cluster, tls_crt=b"rubbish", tls_key=b"rubbish", ca_crt=b"x", ca_key=b"x")
        until(lambda: read_secret(cluster.secrets.read().data).leaf, other.log)
        fresh = cluster.secrets.read().data["tls.crt"].decode().strip()
        assert cluster.mutated()
        until(
            lambda: all(cluster.served(p).strip() == fresh for _, p in cluster.webhooks), other.log
        )
        assert cluster.mutated()
        assert other.log().count("CertificateAuthorityMade: ca.crt holds something") == 1


LEFT = {"everything expired": timedelta(days=400), "killed before caBundle": timedelta()}


@pytest.mark.parametrize("age", LEFT.values(), ids=LEFT)
def test_admissions_work_soon_after_a_start_without_a_hand(tmp_path: Path, age: timedelta) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.configure()
        made = datetime.now(UTC) - age
        authority = an_authority(made)
        cluster.secrets.create(data_of(authority, leaf_of=authority, made=made, names=[HOST]))
        if age:
            hooks = frozenset({"pods.evencore.io"})
            cluster.bundles.write(cluster.bundles.read(), hooks, authority.certificate)
        cluster.webhook("webhook")
        cluster.serve()
        assert not cluster.mutated()
        controller = cluster.controller("controller")
        until(cluster.mutated, controller.log, WITHIN_S / 2)


def test_with_certificates_of_others_nothing_is_written_and_a_missing_one_is_waited_for(
    tmp_path: Path,
) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.configure()
        before = cluster.bundles.read()
        controller = cluster.controller("controller", "--certs", "external")
        webhook = cluster.webhook("webhook")
        (_, port), *_ = cluster.webhooks
        until(lambda: " leads" in controller.log(), controller.log)
        until(lambda: "there is no such Secret" in cluster.ready(port)[1], webhook.log)
        status, said = cluster.ready(port)
        assert status == 503
        assert f"waiting for the certificate in Secret evencore-system/{SECRET}" in said

        pair = Authority().issue()
        cluster.secrets.create({"tls.crt": pair.certificate, "tls.key": pair.key})
        written = cluster.secrets.read()
        cluster.serve()
        assert cluster.served(port).strip() == pair.certificate.decode().strip()
        # A torn pair, as a write in two steps leaves it: the old one stays, with one message.
        put(cluster, tls_crt=Authority().issue().certificate)
        until(lambda: "the certificate of before stays in use" in webhook.log(), webhook.log)
        assert cluster.ready(port)[0] == 200
        assert cluster.served(port).strip() == pair.certificate.decode().strip()
        assert cluster.bundles.read() == before
        assert cluster.secrets.read().uid == written.uid
        assert controller.stop() == 0
        assert "Certificate" not in controller.log()


def test_a_webhook_that_starts_again_serves_at_once_without_an_api_server(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        authority = an_authority(datetime.now(UTC))
        cluster.configure()
        made = data_of(authority, leaf_of=authority, made=datetime.now(UTC), names=[HOST])
        cluster.secrets.create(made)
        directory = tmp_path / "files"
        webhook = cluster.webhook("webhook", "--cert-directory", str(directory))
        cluster.serve()
        webhook.kill()
        api = cluster.kubeconfig.read_text()
        cluster.kubeconfig.write_text(api.replace(str(cluster.server.port), "1"))
        webhook.start()
        (_, port), *_ = cluster.webhooks
        until(lambda: cluster.ready(port)[0], webhook.log)
        assert cluster.served(port).strip() == made["tls.crt"].decode().strip()
        assert "certificate" not in cluster.ready(port)[1]  # not ready, for the snapshot alone


def test_a_worker_that_replaces_another_serves_the_newest_certificate_even_without_secret(
    tmp_path: Path,
) -> None:
    with Cluster(tmp_path) as cluster:
        old, new = Authority().issue(), Authority().issue()
        cluster.secrets.create({"tls.crt": old.certificate, "tls.key": old.key})
        webhook = cluster.webhook("webhook")
        (_, port), *_ = cluster.webhooks
        cluster.serve()
        put(cluster, tls_crt=new.certificate, tls_key=new.key)
        until(lambda: cluster.served(port).encode() == new.certificate, webhook.log)
        cluster.api.write("DELETE", f"{SECRETS}/{SECRET}", {})
        worker = max(map(int, re.findall(r"Booting worker with pid: (\d+)", webhook.log())))
        os.kill(worker, signal.SIGKILL)
        until(lambda: webhook.log().count("Booting worker") > 1, webhook.log)
        until(lambda: cluster.served(port), webhook.log)
        assert cluster.served(port).encode() == new.certificate
        until(lambda: cluster.ready(port)[0] == 200, webhook.log)


def test_the_end_of_the_certificate_that_is_served_is_a_metric(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        pair = Authority().issue()
        webhook = cluster.webhook("webhook")
        (_, port), *_ = cluster.webhooks
        until(lambda: cluster.ready(port)[0], webhook.log)
        name = 'evencore_certificate_expiry_timestamp_seconds{certificate="serving"} '
        assert name not in cluster.get(port, "/metrics")[1]
        cluster.secrets.create({"tls.crt": pair.certificate, "tls.key": pair.key})
        cluster.serve()
        _, _, rest = cluster.get(port, "/metrics")[1].partition(name)
        ends = read_certificate(pair.certificate).expires
        assert float(rest.partition("\n")[0]) == ends.timestamp()


def test_a_place_that_cannot_be_written_to_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Cluster(tmp_path) as cluster:
        command = [
            EVENCORE, "webhook", "--bind", "127.0.0.1:0", "--cert-secret", SECRET,
            "--cert-directory", str(tmp_path / "file" / "below"),
            "--kubeconfig", str(cluster.kubeconfig),
        ]  # fmt: skip
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "--cert-directory (or EVENCORE_CERT_DIRECTORY): " in ended.stderr
    assert "Not a directory; give a directory that this process may write to" in ended.stderr


def test_the_configuration_is_repaired_when_it_is_applied_anew(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        controller = cluster.controller("controller")
        cluster.webhook("webhook")
        cluster.serve()  # before there is any configuration
        cluster.configure()
        until(cluster.mutated, controller.log, WITHIN_S / 2)
        cluster.api.write("DELETE", f"{CONFIGURATIONS}/evencore", {})
        cluster.configure()
        until(cluster.mutated, controller.log, WITHIN_S / 2)
