"""The manifests build, the same each time, and are valid for every version that we speak of."""

from __future__ import annotations

import functools
import json
import re
from importlib.metadata import version
from importlib.resources import files

import kubernetes_validate
import pytest
import yaml
from deployment.manifests import (
    CUSTOM,
    DEPLOY,
    VARIANTS,
    Object,
    build,
    built,
    container,
    deployment,
    hook,
    objects,
    one,
    pod_spec,
    selects,
)
from kubernetes_validate import utils

from evencore.domain import names
from evencore.domain.policy import Policy
from evencore.kube.removal import WEBHOOK

OLDEST = (1, 30)


def _versions() -> list[str]:
    """List the versions of Kubernetes whose schemas are there, from the oldest of ours on."""
    folder = files(kubernetes_validate) / "kubernetes-json-schema"
    found = sorted(
        (int(match[1]), int(match[2]))
        for entry in folder.iterdir()
        if (match := re.fullmatch(r"v(\d+)\.(\d+)\.\d+-local-strict", entry.name))
    )
    return [f"{major}.{minor}.0" for major, minor in found if (major, minor) >= OLDEST]


VERSIONS = _versions()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_build_is_the_same_byte_for_byte(variant: str) -> None:
    assert build(variant) == built(variant)


def test_there_are_schemas_from_the_oldest_version_to_the_newest() -> None:
    assert VERSIONS[0] == "1.30.0"
    assert VERSIONS[-1] == kubernetes_validate.latest_version()
    assert len(VERSIONS) > 5


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each schema read once: the library reads two megabytes for every object."""
    read = functools.cache(utils.schema_contents)
    monkeypatch.setattr(utils, "schema_contents", read)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_of_every_variant_is_strictly_valid(version: str) -> None:
    distinct = {json.dumps(obj): obj for variant in VARIANTS for obj in objects(variant)}
    known = [obj for obj in distinct.values() if obj["kind"] not in CUSTOM]
    assert len(known) > 25
    for obj in known:
        kubernetes_validate.validate(obj, version, strict=True)


def test_a_field_that_no_version_knows_is_noticed() -> None:
    broken = one("Deployment", "evencore-webhook")
    broken["spec"]["replica"] = 2
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


@pytest.mark.parametrize("which", ["webhook", "controller"])
def test_the_image_has_the_version_of_the_project(which: str) -> None:
    assert container(which)["image"] == f"evencore:{version('evencore')}"


@pytest.mark.parametrize("which", ["webhook", "controller"])
def test_the_policy_file_is_one_and_is_where_the_process_looks_for_it(which: str) -> None:
    [policy] = [o for o in objects() if o["kind"] == "ConfigMap"]
    mounted = {m["name"]: m["mountPath"] for m in container(which)["volumeMounts"]}
    [volume] = [v for v in pod_spec(which)["volumes"] if "configMap" in v]
    assert volume["configMap"]["name"] == policy["metadata"]["name"]
    assert f"--policy={mounted[volume['name']]}/policy.yaml" in container(which)["args"]


def test_the_policy_file_says_the_defaults() -> None:
    [policy] = [o for o in objects() if o["kind"] == "ConfigMap"]
    written = yaml.safe_load(policy["data"]["policy.yaml"])
    assert Policy.from_mapping(written) == Policy()


def test_a_changed_policy_is_a_rollout() -> None:
    name = one("ConfigMap", _policy_name())["metadata"]["name"]
    assert re.fullmatch(r"evencore-policy-[a-z0-9]{10}", name), "the name is a hash of its content"


def _policy_name() -> str:
    [name] = [o["metadata"]["name"] for o in objects() if o["kind"] == "ConfigMap"]
    return str(name)


def test_uninstall_knows_our_hook_by_its_name() -> None:
    assert hook()["name"] == WEBHOOK


def test_who_is_asked_is_who_takes_part() -> None:
    wanted = {(e["key"], e["operator"], *e["values"]) for e in _expressions("namespaceSelector")}
    assert (names.ADMISSION, "In", names.ENABLED) in wanted
    assert ("kubernetes.io/metadata.name", "NotIn", "kube-system", "evencore-system") in wanted
    assert [(e["key"], e["operator"], e["values"]) for e in _expressions("objectSelector")] == [
        (names.ADMISSION, "NotIn", [names.DISABLED])
    ]
    assert Policy().ignored_namespaces == {"kube-system", "evencore-system"}


def _expressions(selector: str) -> list[Object]:
    found: list[Object] = hook()[selector]["matchExpressions"]
    return found


def test_our_own_pods_never_wait_for_us() -> None:
    namespace = one("Namespace", "evencore-system")
    assert names.ADMISSION not in namespace["metadata"]["labels"]
    assert hook()["failurePolicy"] == "Ignore"
    assert hook()["timeoutSeconds"] == 3


@pytest.mark.parametrize("variant", VARIANTS)
def test_everything_of_ours_has_our_label_and_says_its_namespace(variant: str) -> None:
    cluster_wide = {
        "ClusterRole", "ClusterRoleBinding", "FlowSchema", "MutatingWebhookConfiguration",
        "Namespace", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    }  # fmt: skip
    for obj in objects(variant):
        meta = obj["metadata"]
        where = None if obj["kind"] in cluster_wide else "evencore-system"
        assert meta.get("namespace") == where, obj
        assert meta["labels"]["app.kubernetes.io/name"] == "evencore", obj


@pytest.mark.parametrize("which", ["webhook", "controller"])
@pytest.mark.parametrize("kind", ["NetworkPolicy", "PodDisruptionBudget", "Service"])
def test_what_selects_pods_selects_exactly_those_of_one_process(which: str, kind: str) -> None:
    name = f"evencore-{which}"
    [spec] = [
        obj["spec"]
        for obj in objects()
        if obj["kind"] == kind and obj["metadata"]["name"].startswith(name)
    ]
    selector = spec.get("selector") or spec["podSelector"]
    for other in ("webhook", "controller"):
        labels = deployment(other)["template"]["metadata"]["labels"]
        assert selects(selector.get("matchLabels", selector), labels) is (which == other)


@pytest.mark.parametrize("which", ["webhook", "controller"])
def test_a_network_policy_lets_in_what_the_process_listens_on_and_out_what_it_calls(
    which: str,
) -> None:
    spec = one("NetworkPolicy", f"evencore-{which}")["spec"]
    [port] = container(which)["ports"]
    assert [p["port"] for rule in spec["ingress"] for p in rule["ports"]] == [port["name"]]
    assert {443, 6443} <= {p["port"] for rule in spec["egress"] for p in rule["ports"]}


@pytest.mark.parametrize("which", ["webhook", "controller"])
def test_no_probe_asks_for_more_than_the_process_itself_but_readiness(which: str) -> None:
    paths = {
        name: container(which)[name]["httpGet"]["path"]
        for name in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert paths == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }


def test_the_dev_overlay_calls_a_machine_and_runs_nothing() -> None:
    kinds = {obj["kind"] for obj in objects("overlays/dev")}
    assert kinds == {"Namespace", "MutatingWebhookConfiguration"}
    config = hook("overlays/dev")["clientConfig"]
    assert list(config) == ["url"]
    assert config["url"].startswith("https://")
    rest = {key: value for key, value in hook("overlays/dev").items() if key != "clientConfig"}
    assert rest == {key: value for key, value in hook().items() if key != "clientConfig"}


def test_no_manifest_holds_a_cabundle_that_would_reset_ours() -> None:
    for variant in VARIANTS:
        assert "caBundle" not in built(variant)


def test_every_file_in_deploy_belongs_to_something() -> None:
    for kustomization in DEPLOY.rglob("kustomization.yaml"):
        content = yaml.safe_load(kustomization.read_text())
        named = {
            *content.get("resources", ()),
            *(f for g in content.get("configMapGenerator", ()) for f in g["files"]),
            "kustomization.yaml",
        }
        beside = {path.name for path in kustomization.parent.glob("*.yaml")}
        assert beside <= named, kustomization
