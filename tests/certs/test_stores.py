"""The Secret and caBundle at a pocket cluster's API: who writes what, and what stays as it is."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from certificates import Authority
from certs_cluster import CONFIGURATIONS, NAMESPACE, SECRET, SECRETS, Cluster
from certs_support import AIMS, Time, an_authority, verifies

from certs.keeper import Clocks, Keeper, published
from certs.reading import read_bundle, read_secret
from certs.rotation import MakeAuthority
from evencore.kube.bundles import BundleStore
from evencore.kube.secrets import SecretStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MERGE = "application/merge-patch+json"
FOREIGN = [
    {"key": "control-plane", "operator": "NotIn", "values": ["true"]},
    {"key": "kubernetes.azure.com/managedby", "operator": "NotIn", "values": ["aks"]},
]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as made:
        yield made


class Kept:
    """A keeper of a cluster, with a clock of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self.time, self.told = Time(), list[str]()
        clocks = Clocks(lambda: self.time.true + self.time.off, self.time.steady)

        def tell(_: str, reason: str, message: str, *, warning: bool = False) -> None:
            del message, warning
            self.told.append(reason)

        self.keeper = Keeper(cluster.secrets, cluster.bundles, AIMS, tell, clocks)

    def settle(self) -> None:
        while self.keeper.step() < 1.0:
            pass

    def live(self, span: timedelta, step: timedelta) -> None:
        end = self.time.true + span
        while self.time.true < end:
            self.settle()
            self.time.true += step


def get(cluster: Cluster, path: str) -> Any:  # noqa: ANN401  any JSON
    reply = cluster.api.get(path)
    try:
        return json.loads(reply.read())
    finally:
        reply.close()


def patch(cluster: Cluster, path: str, change: object) -> None:
    cluster.api.write("PATCH", path, change, content_type=MERGE)


def configured(cluster: Cluster) -> Any:  # noqa: ANN401  any JSON
    return get(cluster, f"{CONFIGURATIONS}/evencore")


def test_of_two_that_make_it_one_wins_and_the_other_is_told(cluster: Cluster) -> None:
    first = cluster.secrets.create({"tls.crt": b"a", "tls.key": b"b"})
    second = cluster.secrets.create({"tls.crt": b"c", "tls.key": b"d"})
    assert (first.problem, second.raced) == ("", True)
    assert cluster.secrets.read().data == {"tls.crt": b"a", "tls.key": b"b"}


def test_of_two_that_change_what_they_read_one_wins(cluster: Cluster) -> None:
    body = {"metadata": {"name": SECRET, "labels": {"mine": "yes"}}, "data": {"other": "eA=="}}
    cluster.post(SECRETS, body)  # as manifests make one, empty of ours
    read = cluster.secrets.read()
    assert cluster.secrets.update(read.uid, read.version, {"tls.crt": b"a"}).problem == ""
    assert cluster.secrets.update(read.uid, read.version, {"tls.crt": b"b"}).raced
    made = get(cluster, f"{SECRETS}/{SECRET}")
    assert (made["metadata"]["labels"], made["type"]) == ({"mine": "yes"}, "Opaque")
    assert cluster.secrets.read().data == {"tls.crt": b"a", "other": b"x"}
    cluster.api.write("DELETE", f"{SECRETS}/{SECRET}", {})
    cluster.post(SECRETS, body)
    assert cluster.secrets.update(read.uid, "", {"tls.crt": b"c"}).raced  # its successor


def test_what_is_refused_is_no_race(cluster: Cluster) -> None:
    nowhere = SecretStore(cluster.api, "nowhere", SECRET)
    answer = nowhere.create({})
    assert (answer.raced, "nowhere" in answer.problem) == (False, True)
    follower = SecretStore(cluster.api, NAMESPACE, SECRET, allowed=lambda: False)
    assert "not the leader" in follower.create({}).problem
    assert cluster.secrets.read().uid == ""


def test_a_bundle_is_written_and_nothing_beside_it(cluster: Cluster) -> None:
    cluster.configure(labels={"mine": "yes"})
    before = configured(cluster)
    read = cluster.bundles.read()
    answer = cluster.bundles.write(
        read, frozenset({"pods.evencore.io"}), an_authority().certificate
    )
    assert answer.problem == ""
    after = configured(cluster)
    assert after["webhooks"][0]["clientConfig"].pop("caBundle")
    for one in (before, after):
        for key in ("resourceVersion", "generation", "managedFields"):
            one["metadata"].pop(key, None)
    assert after == before
    late = cluster.bundles.write(read, frozenset({"pods.evencore.io"}), b"x")
    assert late.raced


def test_two_keepers_without_a_leader_make_one_authority(cluster: Cluster) -> None:
    cluster.configure()
    both = [Kept(cluster), Kept(cluster)]
    threads = [threading.Thread(target=one.settle) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [one.told.count("CertificateAuthorityMade") for one in both] in ([0, 1], [1, 0])
    (hook,) = published(cluster.bundles.read()).hooks
    held = read_secret(cluster.secrets.read().data)
    assert hook.trusted == held.authorities
    assert verifies(cluster.secrets.read().data["tls.crt"], hook.trusted)


def test_a_cloud_that_adds_to_our_selectors_is_not_fought(cluster: Cluster) -> None:
    cluster.configure()
    kept = Kept(cluster)
    kept.settle()
    kept.time.true += timedelta(minutes=2)

    def cloud() -> None:
        hook = configured(cluster)["webhooks"][0]
        selector = hook.get("namespaceSelector") or {}
        there = selector.get("matchExpressions") or []
        lacking = [one for one in FOREIGN if one not in there]
        if lacking:
            hook["namespaceSelector"] = {**selector, "matchExpressions": [*there, *lacking]}
            patch(cluster, f"{CONFIGURATIONS}/evencore", {"webhooks": [hook]})

    cloud()
    start = published(cluster.bundles.read())
    seen = kept.keeper.look()
    assert not isinstance(seen, str)
    kept.keeper.carry_out(MakeAuthority("asked for", seen.held.authorities, leaf=False), seen)
    versions = set()
    for _ in range(60):  # ten minutes
        kept.settle()
        cloud()
        versions.add(configured(cluster)["metadata"]["resourceVersion"])
        kept.time.true += timedelta(seconds=10)
    assert len(versions) == 1  # one write by us, before the first look; none by the cloud
    assert kept.told.count("TrustPublished") == 2  # at the start, and this one
    assert configured(cluster)["webhooks"][0]["namespaceSelector"]["matchExpressions"] == FOREIGN
    assert set(start.hooks[0].trusted) < set(published(cluster.bundles.read()).hooks[0].trusted)
    (entry,) = cluster.bundles.read().entries
    assert (
        entry.selector == "control-plane notin (true), kubernetes.azure.com/managedby notin (aks)"
    )


def test_a_year_in_a_cluster_leaves_what_was_read_on_the_way_verifiable(cluster: Cluster) -> None:
    cluster.configure()
    kept = Kept(cluster)
    for _ in range(130):
        kept.live(timedelta(days=3), timedelta(days=1, seconds=1))
        (entry,) = cluster.bundles.read().entries
        bundle, problem = read_bundle(entry.ca_bundle)
        assert problem == ""
        secret = cluster.secrets.read()
        assert verifies(secret.data["tls.crt"], bundle, kept.time.true)
        assert len(bundle) <= 2
    assert kept.told.count("CertificateAuthorityMade") == 2
    assert kept.told.count("CertificateIssued") > 12


INJECTORS = ["cert-manager.io/inject-ca-from", "service.beta.openshift.io/inject-cabundle"]


@pytest.mark.parametrize("annotation", INJECTORS)
def test_an_injector_is_noticed_and_nothing_is_written(cluster: Cluster, annotation: str) -> None:
    cluster.configure(annotations={annotation: "product-system/product-webhook"})
    before = configured(cluster)
    kept = Kept(cluster)
    kept.live(timedelta(hours=1), timedelta(seconds=600))
    assert kept.told == ["CertificatesLeftAlone"]
    assert configured(cluster) == before
    assert cluster.secrets.read().uid == ""


def test_somebody_elses_certificate_is_never_overwritten(cluster: Cluster) -> None:
    cluster.configure()
    pair = Authority().issue()
    cluster.secrets.create({"tls.crt": pair.certificate, "tls.key": pair.key})
    before = cluster.secrets.read()
    kept = Kept(cluster)
    kept.live(timedelta(hours=1), timedelta(seconds=600))
    assert kept.told == ["CertificatesLeftAlone"]
    assert cluster.secrets.read() == before
    cluster.api.write("DELETE", f"{SECRETS}/{SECRET}", {})
    meta = {"name": SECRET, "annotations": {"cert-manager.io/certificate-name": "webhook"}}
    cluster.post(SECRETS, {"metadata": meta, "data": {"tls.crt": "eA==", "tls.key": "eA=="}})
    kept.live(timedelta(hours=1), timedelta(seconds=600))
    assert cluster.secrets.read().data == {"tls.crt": b"x", "tls.key": b"x"}


ODD = {
    "no webhooks": {"webhooks": None},
    "no annotations": {"metadata": {"annotations": None}},
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_odd_configurations_are_read(cluster: Cluster, change: dict[str, object]) -> None:
    cluster.configure()
    patch(cluster, f"{CONFIGURATIONS}/evencore", change)
    assert cluster.bundles.read().problem == ""


def test_none_at_all_is_waited_for(cluster: Cluster) -> None:
    kept = Kept(cluster)
    kept.settle()
    assert BundleStore(cluster.api, "evencore").read().uid == ""
    cluster.configure()
    kept.settle()
    assert len(read_bundle(cluster.bundles.read().entries[0].ca_bundle)[0]) == 1
