"""The pods that controllers make, held against those that a real control plane sent to a webhook.

The workload is read off the captured pod; what its controller, the API server and admission add
must give the same pod again, field by field, and come from the same user.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from controllers_support import Object, Still, play

from simulator.objects import controller_of
from simulator.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)

if TYPE_CHECKING:
    from simulator.admission.chain import Attributes
    from simulator.resources import Resource

CAPTURES = Path(__file__).parents[1] / "captures"

# What the template gets from somebody else than the user who wrote it, by key.
NOT_OF_THE_TEMPLATE = {
    "volumes",
    "tolerations",
    "serviceAccount",
    "serviceAccountName",
    "priority",
    "preemptionPolicy",
    "enableServiceLinks",
    "hostname",
    "subdomain",
    "affinity",
}


def captured(name: str) -> tuple[Object, Object]:
    request = json.loads((CAPTURES / f"{name}.json").read_text())["request"]
    pod: Object = request["object"]
    del pod["metadata"]["managedFields"]
    return pod, request


def template_of(pod: Object) -> Object:
    spec = {key: value for key, value in pod["spec"].items() if key not in NOT_OF_THE_TEMPLATE}
    container = dict(spec["containers"][0])
    del container["volumeMounts"]
    env = [one for one in container.pop("env", ()) if one["name"] != "JOB_COMPLETION_INDEX"]
    spec["containers"] = [{**container, **({"env": env} if env else {})}]
    return {"metadata": {"labels": {"app": pod["metadata"]["labels"]["app"]}}, "spec": spec}


def plain(pod: Object, random: dict[str, str]) -> Object:
    """Write a pod with placeholders for what is random: uids, hashes, the name of the volume."""
    text = json.dumps(pod, sort_keys=True)
    for value, placeholder in random.items():
        text = text.replace(value, placeholder)
    text = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access-?", text)
    found: Object = json.loads(text)
    found["spec"]["volumes"] = [_without_openshift(one) for one in found["spec"]["volumes"]]
    return found


def _without_openshift(volume: Object) -> Object:
    """Leave out a source that the control plane that was measured adds of its own."""
    if "projected" not in volume:
        return volume
    sources = [one for one in volume["projected"]["sources"] if "openshift" not in str(one)]
    return {**volume, "projected": {**volume["projected"], "sources": sources}}


def random_of(pod: Object) -> dict[str, str]:
    owner = controller_of(pod)
    assert owner is not None
    labels = pod["metadata"]["labels"]
    marks = {owner["uid"]: "UID"}
    for key in ("pod-template-hash", "controller-revision-hash"):
        if key in labels:
            marks[labels[key].rpartition("-")[2]] = "HASH"
    return marks


SELECTOR = {"matchLabels": {"app": ""}}
KINDS: dict[str, tuple[Resource, str, Object]] = {
    "16-create-web": (DEPLOYMENTS, "web", {"selector": SELECTOR}),
    "17-create-db": (STATEFUL_SETS, "db", {"selector": SELECTOR, "serviceName": "db"}),
    "18-create-agent": (DAEMON_SETS, "agent", {"selector": SELECTOR}),
    "21-create-train": (
        JOBS,
        "train",
        {"completionMode": "Indexed", "completions": 1, "parallelism": 1},
    ),
    "22-create-old": (REPLICATION_CONTROLLERS, "old", {"selector": {"app": "old"}}),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_webhook_sees_the_pod_that_a_real_one_sees(name: str) -> None:
    resource, owner, spec = KINDS[name]
    want, request = captured(name)
    if spec.get("selector") is SELECTOR:
        spec = {**spec, "selector": {"matchLabels": {"app": owner}}}
    seen: list[Attributes] = []

    async def look(attributes: Attributes) -> Object | None:
        if attributes.operation == "CREATE" and attributes.target.resource is PODS:
            seen.append(attributes)
        return attributes.obj

    async def story(still: Still) -> None:
        still.node("numa-000")
        await still.make(resource, owner, **spec, template=template_of(want))
        await still.background.advance(2)

    play(story, look)
    first = seen[0]
    assert first.obj is not None
    got = {key: first.obj[key] for key in ("metadata", "spec")}
    got["metadata"] = {**got["metadata"], "namespace": request["namespace"]}
    wanted = {key: want[key] for key in ("metadata", "spec")}
    assert plain(got, random_of(got)) == plain(wanted, random_of(wanted))
    assert first.user.name == request["userInfo"]["username"]
    assert list(first.user.groups) == request["userInfo"]["groups"]
    assert first.options == request["options"]
