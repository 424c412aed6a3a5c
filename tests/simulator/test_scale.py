"""The scale subresource: one number of every workload, and what webhooks see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripted_webhook import HOOKS, NAME, configuration, hook, patch, response
from simulator_support import Wire, pod

from simulator.api.bodies import MERGE_PATCH

if TYPE_CHECKING:
    from scripted_webhook import ScriptedWebhook

SETS = "/apis/apps/v1/namespaces/default/replicasets"


def replica_set(replicas: int) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": pod()["spec"]["containers"]},
    }
    selector = {"matchLabels": {"a": "b"}}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return {"metadata": {"name": "s"}, "spec": spec}


def scaled_to(replicas: object) -> dict[str, Any]:
    return {"spec": {"replicas": replicas}}


def test_a_scale_changes_one_number_and_counts_as_a_change(api: Wire) -> None:
    made = api.post(SETS, replica_set(1))
    status, scale = api.patch(f"{SETS}/s/scale", scaled_to(3), MERGE_PATCH)
    assert (status, scale["kind"], scale["spec"]) == (200, "Scale", {"replicas": 3})
    after = api.get(f"{SETS}/s")
    assert after["metadata"]["generation"] == 2
    assert after["spec"] == made["spec"] | {"replicas": 3}


def test_a_scale_of_another_version_is_a_conflict(api: Wire) -> None:
    api.post(SETS, replica_set(1))
    wish = scaled_to(3) | {"metadata": {"resourceVersion": "1"}}
    status, told = api.patch(f"{SETS}/s/scale", wish, MERGE_PATCH)
    assert (status, told["reason"]) == (409, "Conflict")


def test_nothing_is_scaled_below_zero(api: Wire) -> None:
    api.post(SETS, replica_set(1))
    status, told = api.patch(f"{SETS}/s/scale", scaled_to(-1), MERGE_PATCH)
    assert status == 422
    assert told["message"] == (
        'Scale.autoscaling "s" is invalid: spec.replicas: Invalid value: -1: '
        "must be greater than or equal to 0"
    )


def test_a_webhook_sees_the_scale_and_may_change_it(hooked: Wire, webhook: ScriptedWebhook) -> None:
    hooked.post(SETS, replica_set(1))
    rule = {
        "operations": ["UPDATE"],
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "resources": ["replicasets", "replicasets/scale"],
    }
    hooked.post(HOOKS, configuration(hook(NAME, webhook.config(), rules=[rule])))
    more = patch({"op": "replace", "path": "/spec/replicas", "value": 5})
    webhook.answer("/mutate", lambda request: response(request, **more))
    _, scale = hooked.patch(f"{SETS}/s/scale", scaled_to(3), MERGE_PATCH)
    assert scale["spec"] == {"replicas": 5}
    assert hooked.get(f"{SETS}/s")["spec"]["replicas"] == 5
    (sent,) = webhook.sent
    request = sent.review["request"]
    assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert request["resource"] == {"group": "apps", "version": "v1", "resource": "replicasets"}
    assert (request["subResource"], request["name"]) == ("scale", "s")
    seen = [request[part]["spec"]["replicas"] for part in ("oldObject", "object")]
    assert seen == [1, 3]
    assert request["object"]["kind"] == "Scale"
