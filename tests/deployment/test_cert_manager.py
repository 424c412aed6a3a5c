"""The overlay for cert-manager: who makes certificates, who reads them, who may not any more."""

from __future__ import annotations

from typing import Any

from deployment.manifests import container, hook, objects, one

OVERLAY = "overlays/cert-manager"
SERVICE = "evencore-webhook.evencore-system.svc"


def _resources(variant: str) -> dict[tuple[str, str], list[str]]:
    """Return (role, resource) → verbs."""
    return {
        (obj["metadata"]["name"], resource): rule["verbs"]
        for obj in objects(variant)
        if obj["kind"] in ("Role", "ClusterRole")
        for rule in obj["rules"]
        for resource in rule["resources"]
    }


def test_it_is_filled_in_from_the_certificate_that_the_webhook_serves() -> None:
    [configuration] = [o for o in objects(OVERLAY) if o["kind"] == "MutatingWebhookConfiguration"]
    source = configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
    namespace, _, name = source.partition("/")
    certificate = one("Certificate", name, OVERLAY)
    assert certificate["metadata"]["namespace"] == namespace
    assert (
        f"--cert-secret={certificate['spec']['secretName']}"
        in container("webhook", OVERLAY)["args"]
    )
    assert SERVICE in certificate["spec"]["dnsNames"]
    service = hook(OVERLAY)["clientConfig"]["service"]
    assert f"{service['name']}.{service['namespace']}.svc" == SERVICE


def test_every_issuer_that_is_named_is_there() -> None:
    made: list[Any] = objects(OVERLAY)
    issuers = {obj["metadata"]["name"] for obj in made if obj["kind"] == "Issuer"}
    named = {obj["spec"]["issuerRef"]["name"] for obj in made if obj["kind"] == "Certificate"}
    assert named == issuers
    secrets = {obj["spec"]["secretName"] for obj in made if obj["kind"] == "Certificate"}
    assert one("Issuer", "evencore-authority", OVERLAY)["spec"]["ca"]["secretName"] in secrets


def test_the_controller_stays_out_and_may_not_do_otherwise() -> None:
    assert "--certs=external" in container("controller", OVERLAY)["args"]
    assert "--certs=external" not in container("controller")["args"]
    touched = {resource for _, resource in _resources("base")}
    assert {"secrets", "mutatingwebhookconfigurations"} <= touched
    left = {
        key
        for key in _resources(OVERLAY)
        if key[1] in touched & {"secrets", "mutatingwebhookconfigurations"}
    }
    assert left == {("evencore-webhook-certificate", "secrets")}


def test_every_binding_that_is_left_has_its_role() -> None:
    roles = {(o["kind"], o["metadata"]["name"]) for o in objects(OVERLAY)}
    for obj in objects(OVERLAY):
        if obj["kind"].endswith("RoleBinding"):
            assert (obj["roleRef"]["kind"], obj["roleRef"]["name"]) in roles
