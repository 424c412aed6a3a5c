"""Case 54: the manifests have what an upgrade and a node drain need to lose no admission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from deployment.manifests import (
    Object,
    container,
    deployment,
    hook,
    objects,
    one,
    pod_spec,
    selects,
)

from evencore.domain.lenient import read
from evencore.domain.qos import QoS, qos_class
from evencore.domain.resources import read_amounts
from evencore.domain.views import PodView

if TYPE_CHECKING:
    from collections.abc import Callable

CASE: Final = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "54-rollout-manifests.yaml").read_text()
)
BOTH: Final = ("webhook", "controller")


def _rolling() -> None:
    spec = deployment("webhook")
    assert spec["replicas"] >= 2
    assert spec["strategy"]["type"] == "RollingUpdate"
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert spec["strategy"]["rollingUpdate"]["maxSurge"] >= 1


def _probes() -> None:
    # That /readyz fails after SIGTERM, and /healthz depends on nothing: tests/webhook.
    probes = container("webhook")
    assert probes["readinessProbe"]["httpGet"] == {
        "path": "/readyz",
        "port": "https",
        "scheme": "HTTPS",
    }
    assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz"


def _grace() -> None:
    spec, hooks = pod_spec("webhook"), container("webhook")["lifecycle"]
    flags = dict(arg.split("=") for arg in container("webhook")["args"][1:])
    drain = int(flags["--drain-seconds"]) + int(flags["--closing-seconds"])
    assert list(hooks) == ["preStop"]
    assert list(hooks["preStop"]) == ["sleep"], "exec would need a program in the image"
    assert spec["terminationGracePeriodSeconds"] >= hooks["preStop"]["sleep"]["seconds"] + drain + 5


def _budget() -> None:
    for which in BOTH:
        spec = one("PodDisruptionBudget", f"evencore-{which}")["spec"]
        assert (spec.get("maxUnavailable"), spec.get("minAvailable")) == (1, None)
        assert deployment(which)["replicas"] >= 2


def _spread() -> None:
    for which in BOTH:
        spec = pod_spec(which)
        assert {
            (c["topologyKey"], c["whenUnsatisfiable"]) for c in spec["topologySpreadConstraints"]
        } >= {("kubernetes.io/hostname", "ScheduleAnyway")}
        labels = deployment(which)["template"]["metadata"]["labels"]
        for constraint in spec["topologySpreadConstraints"]:
            assert selects(constraint["labelSelector"]["matchLabels"], labels)
        assert spec["priorityClassName"] == "system-cluster-critical"


def _not_guaranteed() -> None:
    for which in BOTH:
        view = read(PodView, {"metadata": {"name": "p"}, "spec": pod_spec(which)})[0]
        assert view.spec is not None
        assert qos_class(read_amounts(view.spec)) is QoS.BURSTABLE


def _restricted() -> None:
    for which in BOTH:
        spec, only = pod_spec(which), container(which)
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        context = only["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        assert {tuple(v.keys() - {"name"}) for v in spec["volumes"]} <= {
            ("configMap",),
            ("emptyDir",),
        }
    labels = one("Namespace", "evencore-system")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def _linux() -> None:
    for which in BOTH:
        assert pod_spec(which)["nodeSelector"] == {"kubernetes.io/os": "linux"}


def _service() -> None:
    spec = one("Service", "evencore-webhook")["spec"]
    [port] = spec["ports"]
    assert (port["port"], port["targetPort"]) == (443, "https")
    assert [p["name"] for p in container("webhook")["ports"]] == ["https"]
    labels = deployment("controller")["template"]["metadata"]["labels"]
    assert not selects(spec["selector"], labels)
    service = hook()["clientConfig"]["service"]
    assert (service["name"], service["port"], service["path"]) == (
        "evencore-webhook",
        443,
        "/mutate",
    )


def _rules(group: str, resource: str) -> list[tuple[str, Object]]:
    return [
        (obj["kind"], rule)
        for obj in objects()
        if obj["kind"] in ("Role", "ClusterRole")
        for rule in obj["rules"]
        if group in rule["apiGroups"] and resource in rule["resources"]
    ]


def _rbac() -> None:
    for obj in objects():
        for rule in obj.get("rules", ()) if "Role" in obj["kind"] else ():
            assert "*" not in str(rule)
    # patch, beyond what the case names: the controller takes its gate off.
    pods = {verb for _, rule in _rules("", "pods") for verb in rule["verbs"]}
    assert pods == {"get", "list", "watch", "delete", "patch"}
    hooks = _rules("admissionregistration.k8s.io", "mutatingwebhookconfigurations")
    for _, rule in hooks:
        assert rule["resourceNames"] == ["evencore"]
        assert set(rule["verbs"]) <= {"get", "update", "patch"}
    secrets = _rules("", "secrets")
    assert hooks
    assert secrets
    for kind, rule in secrets:
        assert kind == "Role"
        assert rule["verbs"] == ["create"] or rule["resourceNames"] == ["evencore-webhook-tls"]


def _webhook() -> None:
    got = hook()
    assert got["sideEffects"] == "None"
    assert got["admissionReviewVersions"] == ["v1"]
    assert got["matchPolicy"] == "Equivalent"
    assert got["reinvocationPolicy"] == "IfNeeded"
    assert got["timeoutSeconds"] <= 5


CHECKS: Final[dict[str, Callable[[], None]]] = {
    "webhook replicas": _rolling,
    "readinessProbe": _probes,
    "terminationGracePeriodSeconds": _grace,
    "PodDisruptionBudget": _budget,
    "anti-affinity": _spread,
    "the product's own containers": _not_guaranteed,
    "securityContext": _restricted,
    "nodeSelector": _linux,
    "port 443": _service,
    "no wildcard": _rbac,
    "sideEffects": _webhook,
}


def _points(expected: Any) -> list[str]:  # noqa: ANN401  as YAML has it
    return [
        point
        for value in expected.values()
        for point in (value if isinstance(value, list) else [value])
    ]


@pytest.mark.parametrize("point", _points(CASE["expect"]))
def test_every_point_of_case_54(point: str) -> None:
    [check] = [check for begin, check in CHECKS.items() if point.startswith(begin)]
    check()
