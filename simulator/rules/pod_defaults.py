"""The defaults of pods and pod templates, as far as the fields that clusters show go.

Kubernetes rules: SetDefaults_Pod, SetDefaults_PodSpec, SetDefaults_Container and their
neighbours in pkg/apis/core/v1/defaults.go. A template gets all but what only a pod gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulator.rules.amounts import canonical_resources

if TYPE_CHECKING:
    from simulator.objects import Object

_SPEC: Final[dict[str, Any]] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER: Final[dict[str, Any]] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1}
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_MODE: Final = 0o644


def pod(obj: Object) -> Object:
    """Return a pod with its defaults."""
    spec = template_spec(obj.get("spec") or {})
    spec.setdefault("enableServiceLinks", True)
    for part in ("initContainers", "containers"):
        if part in spec:
            spec[part] = [_with_requests(one) for one in spec[part]]
    return {**obj, "spec": spec}


def template_spec(given: Object) -> Object:
    """Return a pod spec with what templates and pods both get."""
    spec = {**_SPEC, **given}
    for part in ("initContainers", "containers", "ephemeralContainers"):
        if spec.get(part):
            spec[part] = [_container(one, spec) for one in spec[part]]
    if spec.get("volumes"):
        spec["volumes"] = [_volume(one) for one in spec["volumes"]]
    # Two names of one field since 1.0; whichever is given, both are there.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    return spec


def _container(given: Object, spec: Object) -> Object:
    container = {**_CONTAINER, **given}
    container["resources"] = canonical_resources(container["resources"] or {})
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image") or ""))
    if container.get("ports"):
        container["ports"] = [_port(one, spec) for one in container["ports"]]
    if container.get("env"):
        container["env"] = [_env(one) for one in container["env"]]
    for name in _PROBES:
        if container.get(name):
            container[name] = _probe(container[name])
    return container


def _pull_policy(image: str) -> str:
    """Kubernetes rule: what may change under the same name is pulled each time."""
    if "@" in image:
        return "IfNotPresent"
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return "Always" if not colon or tag == "latest" else "IfNotPresent"


def _port(given: Object, spec: Object) -> Object:
    port = {"protocol": "TCP", **given}
    if spec.get("hostNetwork") and "containerPort" in port:
        port.setdefault("hostPort", port["containerPort"])
    return port


def _env(given: Object) -> Object:
    source = given.get("valueFrom") or {}
    if "fieldRef" not in source:
        return given
    return {**given, "valueFrom": {"fieldRef": {"apiVersion": "v1", **source["fieldRef"]}}}


def _probe(given: Object) -> Object:
    probe = {**_PROBE, "failureThreshold": 3, **given}
    if "httpGet" in probe:
        probe["httpGet"] = {"path": "/", "scheme": "HTTP", **probe["httpGet"]}
    return probe


def _volume(given: Object) -> Object:
    volume = dict(given)
    for kind in ("secret", "configMap", "projected", "downwardAPI"):
        if isinstance(volume.get(kind), dict):
            volume[kind] = {"defaultMode": _MODE, **volume[kind]}
    if isinstance(volume.get("hostPath"), dict):
        volume["hostPath"] = {"type": "", **volume["hostPath"]}
    return volume if len(volume) > 1 else {**volume, "emptyDir": {}}


def _with_requests(container: Object) -> Object:
    """Kubernetes rule: a missing request takes the value of the limit."""
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    if not limits:
        return container
    requests = {**limits, **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}
