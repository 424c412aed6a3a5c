"""Rules that every overlay and every component keeps: what linters of manifests ask, and more.

A rule looks at the objects of one build and returns its complaints. Each is shown to complain, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from deployment.manifests import VARIANTS, Object, objects, selects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _of(found: list[Object], *kinds: str) -> list[Object]:
    return [obj for obj in found if obj["kind"] in kinds]


def _pods(found: list[Object]) -> Iterator[tuple[str, Object, Object]]:
    """Yield name, spec and only container of the pods of each Deployment."""
    for obj in _of(found, "Deployment"):
        spec = obj["spec"]["template"]["spec"]
        for each in (*spec["containers"], *spec.get("initContainers", ())):
            yield obj["metadata"]["name"], spec, each


def _roles(found: list[Object]) -> Iterator[tuple[Object, Object]]:
    for obj in _of(found, "Role", "ClusterRole"):
        for rule in obj["rules"]:
            yield obj, rule


def _hooks(found: list[Object]) -> list[Object]:
    return [hook for obj in _of(found, "MutatingWebhookConfiguration") for hook in obj["webhooks"]]


def _not_root(found: list[Object]) -> Iterator[str]:
    for name, spec, each in _pods(found):
        for context in (spec["securityContext"], each["securityContext"]):
            if context.get("runAsNonRoot", True) is not True or context.get("runAsUser") == 0:
                yield name
        if spec["securityContext"].get("runAsNonRoot") is not True:
            yield name


def _read_only(found: list[Object]) -> Iterator[str]:
    for name, spec, each in _pods(found):
        if each["securityContext"].get("readOnlyRootFilesystem") is not True:
            yield name
        writable = [m["name"] for m in each["volumeMounts"] if not m.get("readOnly")]
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        for mount in writable:
            if not volumes[mount].get("emptyDir", {}).get("sizeLimit"):
                yield f"{name}: {mount} is writable and has no limit"


def _no_privileges(found: list[Object]) -> Iterator[str]:
    for name, spec, each in _pods(found):
        context = each["securityContext"]
        if context.get("allowPrivilegeEscalation") is not False or context.get("privileged"):
            yield name
        if context.get("capabilities") != {"drop": ["ALL"]}:
            yield f"{name}: capabilities"
        if spec["securityContext"].get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{name}: seccomp"
        if any(spec.get(key) for key in ("hostPID", "hostIPC", "shareProcessNamespace")):
            yield f"{name}: shares with its node"
        if any("hostPath" in volume for volume in spec["volumes"]):
            yield f"{name}: hostPath"


def _resources(found: list[Object]) -> Iterator[str]:
    for name, _, each in _pods(found):
        asked, most = each["resources"]["requests"], each["resources"].get("limits", {})
        if not {"cpu", "memory"} <= asked.keys() or "memory" not in most:
            yield name


def _probes(found: list[Object]) -> Iterator[str]:
    for name, _, each in _pods(found):
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if each.get(probe, {}).get("timeoutSeconds", 0) < 1:
                yield f"{name}: {probe}"


def _images(found: list[Object]) -> Iterator[str]:
    for name, _, each in _pods(found):
        if not re.fullmatch(r"[^:@]+(:[0-9][^:@]*|@sha256:[0-9a-f]{64})", each["image"]):
            yield f"{name}: {each['image']}"


def _spread(found: list[Object]) -> Iterator[str]:
    for obj in _of(found, "Deployment"):
        name, template = obj["metadata"]["name"], obj["spec"]["template"]
        if obj["spec"]["replicas"] < 2:
            yield f"{name}: one replica"
        keys = {each["topologyKey"] for each in template["spec"]["topologySpreadConstraints"]}
        if "kubernetes.io/hostname" not in keys:
            yield f"{name}: not spread over nodes"
        for kind, at in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
            chosen = [
                one["spec"][at]["matchLabels"]
                for one in _of(found, kind)
                if selects(one["spec"][at]["matchLabels"], template["metadata"]["labels"])
            ]
            if len(chosen) != 1:
                yield f"{name}: {len(chosen)} of {kind}"


def _networks(found: list[Object]) -> Iterator[str]:
    for obj in _of(found, "NetworkPolicy"):
        spec = obj["spec"]
        if sorted(spec["policyTypes"]) != ["Egress", "Ingress"]:
            yield obj["metadata"]["name"]
        if not all(rule.get("ports") for rule in (*spec["ingress"], *spec["egress"])):
            yield f"{obj['metadata']['name']}: every port"


def _accounts(found: list[Object]) -> Iterator[str]:
    made = {
        obj["metadata"]["name"]: obj.get("automountServiceAccountToken", True)
        for obj in _of(found, "ServiceAccount")
    }
    for name, spec, _ in _pods(found):
        account = spec.get("serviceAccountName", "default")
        if account not in made:
            yield f"{name} runs as {account}"
        if spec.get("automountServiceAccountToken") is not True:
            yield f"{name} needs a token and does not say so"
    for account, mounted in made.items():
        if mounted is not False:
            yield f"any pod that is run as {account} gets its token"


_RISKY: Final = {
    "bind", "escalate", "impersonate", "deletecollection", "*",
}  # fmt: skip
_NEVER: Final = {
    "pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "nodes/proxy",
    "serviceaccounts/token", "clusterroles", "clusterrolebindings", "roles", "rolebindings",
    "certificatesigningrequests", "configmaps",
}  # fmt: skip


def _rights(found: list[Object]) -> Iterator[str]:
    for obj, rule in _roles(found):
        name = f"{obj['kind']} {obj['metadata']['name']}"
        if _RISKY & {*rule["verbs"]} or "*" in (*rule["apiGroups"], *rule.get("resources", ())):
            yield f"{name}: {rule}"
        if _NEVER & {*rule.get("resources", ())} or "nonResourceURLs" in rule:
            yield f"{name}: {rule}"
        if "secrets" in rule.get("resources", ()) and obj["kind"] == "ClusterRole":
            yield f"{name}: secrets of the whole cluster"
        if "secrets" in rule.get("resources", ()) and {"list", "watch"} & {*rule["verbs"]}:
            yield f"{name}: lists secrets"


def _subjects(found: list[Object]) -> Iterator[str]:
    for obj in _of(found, "RoleBinding", "ClusterRoleBinding"):
        for who in obj["subjects"]:
            if (who["kind"], who["namespace"]) != ("ServiceAccount", "evencore-system"):
                yield f"{obj['metadata']['name']}: {who}"
        if obj["roleRef"]["name"] in ("cluster-admin", "admin", "edit"):
            yield obj["metadata"]["name"]


def _writes_of_the_webhook(found: list[Object]) -> Iterator[str]:
    roles = {
        obj["roleRef"]["name"]
        for obj in _of(found, "RoleBinding", "ClusterRoleBinding")
        if any(who["name"] == "evencore-webhook" for who in obj["subjects"])
    }
    for obj, rule in _roles(found):
        if obj["metadata"]["name"] in roles and {*rule["verbs"]} - {"get", "list", "watch"}:
            yield f"{obj['metadata']['name']}: {rule['verbs']}"


def _fail_open(found: list[Object]) -> Iterator[str]:
    for hook in _hooks(found):
        if hook["failurePolicy"] != "Ignore" or not 1 <= hook["timeoutSeconds"] <= 5:
            yield "a cluster would wait for us"
        if hook["sideEffects"] != "None" or hook["reinvocationPolicy"] != "IfNeeded":
            yield "dry runs, or what others change after us"
        selector = hook["namespaceSelector"]["matchExpressions"]
        kept_out = {
            name
            for each in selector
            if (each["key"], each["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
            for name in each["values"]
        }
        if not {"kube-system", "evencore-system"} <= kept_out:
            yield "kube-system and our own namespace"
        if not any(each["operator"] == "In" for each in selector):
            yield "namespaces that did not ask"
        for rule in hook["rules"]:
            if (rule["operations"], rule["resources"]) != (["CREATE"], ["pods"]):
                yield f"more than pods that are made: {rule}"


def _pod_security(found: list[Object]) -> Iterator[str]:
    on_host = any(spec.get("hostNetwork") for _, spec, _ in _pods(found))
    for obj in _of(found, "Namespace"):
        level = obj["metadata"]["labels"].get("pod-security.kubernetes.io/enforce")
        if level != ("privileged" if on_host else "restricted"):
            yield f"Pod Security: {level}"


def _no_secrets(found: list[Object]) -> Iterator[str]:
    for obj in _of(found, "Secret"):
        yield f"a Secret in a manifest: {obj['metadata']['name']}"
    for name, _, each in _pods(found):
        for variable in each.get("env", ()):
            if "secretKeyRef" in variable.get("valueFrom", {}):
                yield f"{name}: a Secret in the environment, which every child sees"


RULES: Final[dict[str, Callable[[list[Object]], Iterator[str]]]] = {
    "nothing runs as root": _not_root,
    "root file systems are read-only, and what is writable has a limit": _read_only,
    "nothing has privileges, capabilities or a share of its node": _no_privileges,
    "CPU and memory are asked for, and memory has a limit": _resources,
    "every container has its three probes, each with a timeout": _probes,
    "every image has a version or a digest, never latest": _images,
    "two replicas, spread over nodes, with a budget and a network policy each": _spread,
    "network policies are for both directions and name ports": _networks,
    "each process has an account of its own, whose token only it gets": _accounts,
    "no role has a wildcard, a way to more rights, or Secrets of the cluster": _rights,
    "roles are given to our own accounts only": _subjects,
    "the webhook writes nothing": _writes_of_the_webhook,
    "the webhook is fail-open, quick and only for who takes part": _fail_open,
    "our namespace enforces Pod Security, restricted unless on the host's network": _pod_security,
    "no Secret stands in a manifest or an environment": _no_secrets,
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rule", RULES)
def test_every_variant_keeps_the_rule(rule: str, variant: str) -> None:
    assert list(RULES[rule](objects(variant))) == []


def _container(found: list[Object]) -> Object:
    return next(each for _, _, each in _pods(found))


def _spec(found: list[Object]) -> Object:
    return next(spec for _, spec, _ in _pods(found))


def _first(found: list[Object], *kinds: str) -> Any:  # noqa: ANN401  any part of it is spoilt
    return _of(found, *kinds)[0]


SPOILT: Final[dict[str, list[Callable[[list[Object]], object]]]] = {
    "nothing runs as root": [
        lambda o: _spec(o)["securityContext"].pop("runAsNonRoot"),
        lambda o: _container(o)["securityContext"].update(runAsUser=0),
    ],
    "root file systems are read-only, and what is writable has a limit": [
        lambda o: _container(o)["securityContext"].pop("readOnlyRootFilesystem"),
        lambda o: _container(o)["volumeMounts"][0].pop("readOnly"),
    ],
    "nothing has privileges, capabilities or a share of its node": [
        lambda o: _container(o)["securityContext"].update(privileged=True),
        lambda o: _container(o)["securityContext"].pop("capabilities"),
        lambda o: _spec(o)["securityContext"].pop("seccompProfile"),
        lambda o: _spec(o).update(hostPID=True),
        lambda o: _spec(o)["volumes"].append({"name": "x", "hostPath": {"path": "/"}}),
    ],
    "CPU and memory are asked for, and memory has a limit": [
        lambda o: _container(o)["resources"].pop("limits"),
        lambda o: _container(o)["resources"]["requests"].pop("cpu"),
    ],
    "every container has its three probes, each with a timeout": [
        lambda o: _container(o).pop("livenessProbe"),
    ],
    "every image has a version or a digest, never latest": [
        lambda o: _container(o).update(image="evencore"),
        lambda o: _container(o).update(image="evencore:latest"),
    ],
    "two replicas, spread over nodes, with a budget and a network policy each": [
        lambda o: _first(o, "Deployment")["spec"].update(replicas=1),
        lambda o: _spec(o)["topologySpreadConstraints"].clear(),
        lambda o: o.remove(_first(o, "PodDisruptionBudget")),
        lambda o: o.remove(_first(o, "NetworkPolicy")),
    ],
    "network policies are for both directions and name ports": [
        lambda o: _first(o, "NetworkPolicy")["spec"]["policyTypes"].pop(),
        lambda o: _first(o, "NetworkPolicy")["spec"]["egress"].append({}),
    ],
    "each process has an account of its own, whose token only it gets": [
        lambda o: _spec(o).pop("serviceAccountName"),
        lambda o: _spec(o).pop("automountServiceAccountToken"),
        lambda o: _first(o, "ServiceAccount").pop("automountServiceAccountToken"),
    ],
    "no role has a wildcard, a way to more rights, or Secrets of the cluster": [
        lambda o: _first(o, "ClusterRole")["rules"][0]["verbs"].append("*"),
        lambda o: _first(o, "ClusterRole")["rules"][0]["verbs"].append("escalate"),
        lambda o: _first(o, "ClusterRole")["rules"][0]["resources"].append("secrets"),
        lambda o: _first(o, "Role")["rules"][0]["resources"].append("pods/exec"),
    ],
    "roles are given to our own accounts only": [
        lambda o: _first(o, "RoleBinding")["subjects"][0].update(namespace="default"),
        lambda o: _first(o, "ClusterRoleBinding")["roleRef"].update(name="cluster-admin"),
    ],
    "the webhook writes nothing": [
        lambda o: next(
            rule
            for role, rule in _roles(o)
            if role["metadata"]["name"] == "evencore-webhook"
        )["verbs"].append("patch"),
    ],
    "the webhook is fail-open, quick and only for who takes part": [
        lambda o: _hooks(o)[0].update(failurePolicy="Fail"),
        lambda o: _hooks(o)[0].update(timeoutSeconds=30),
        lambda o: _hooks(o)[0].update(sideEffects="Unknown"),
        lambda o: _hooks(o)[0].update(reinvocationPolicy="Never"),
        lambda o: _hooks(o)[0]["namespaceSelector"]["matchExpressions"].pop(),
        lambda o: _hooks(o)[0]["namespaceSelector"]["matchExpressions"].pop(0),
        lambda o: _hooks(o)[0]["rules"][0]["resources"].append("secrets"),
    ],
    "our namespace enforces Pod Security, restricted unless on the host's network": [
        lambda o: _first(o, "Namespace")["metadata"]["labels"].pop(
            "pod-security.kubernetes.io/enforce"
        ),
    ],
    "no Secret stands in a manifest or an environment": [
        lambda o: o.append({"kind": "Secret", "metadata": {"name": "x"}}),
        lambda o: _container(o)["env"].append({"valueFrom": {"secretKeyRef": {"name": "x"}}}),
    ],
}  # fmt: skip


def test_every_rule_is_shown_to_complain() -> None:
    assert SPOILT.keys() == RULES.keys()


@pytest.mark.parametrize(
    ("rule", "number"), [(rule, n) for rule in SPOILT for n in range(len(SPOILT[rule]))]
)
def test_a_manifest_that_breaks_the_rule_is_complained_of(rule: str, number: int) -> None:
    found = objects()
    SPOILT[rule][number](found)
    assert list(RULES[rule](found))
