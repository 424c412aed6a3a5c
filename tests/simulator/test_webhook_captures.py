"""The AdmissionReviews of the pocket cluster beside those that a real API server sent.

The same objects are written again, by the same users with the same options; what comes to a
webhook must be the same, but for what is random or of the cluster that was recorded.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from captured import CAPTURES, as_written, request
from scripted_webhook import HOOKS, NAME, ScriptedWebhook, configuration, hook

from simulator.admission.chain import User
from simulator.api import actions
from simulator.api.routing import Target
from simulator.api.writes import ADMIN, Call
from simulator.auth.credentials import of_token
from simulator.auth.rbac import SERVICE_ACCOUNT
from simulator.resources import LIMIT_RANGES, PODS
from simulator.scheduler.scheduler import USER as SCHEDULER
from simulator.store.deletion import Options

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from simulator_support import Object, Wire

    from simulator.server import ApiServer

NAMES = sorted(path.stem for path in CAPTURES.glob("*.json"))
NAMESPACE = "capture"
EVERYTHING = {
    "operations": ["*"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods/*"],
}
RANDOM = ("managedFields", "uid", "resourceVersion", "creationTimestamp")


def comparable(reviewed: Object) -> Object:
    """Give a request without what is random, and without what only the recorded cluster has."""
    seen: Object = json.loads(json.dumps(reviewed))
    del seen["uid"]
    extra = seen["userInfo"].get("extra", {})
    for key, ids in extra.items():
        extra[key] = [one.partition("=")[0] for one in ids]  # certificate or token, not which
    for part in ("object", "oldObject"):
        if seen.get(part) is None:
            continue
        for key in RANDOM:
            seen[part]["metadata"].pop(key, None)
        spec = seen[part].get("spec") or {}
        for volume in spec.get("volumes") or ():
            volume["name"] = "token"
            # OpenShift's certificate authority is mounted in the recorded cluster alone.
            sources = volume["projected"]["sources"]
            volume["projected"]["sources"] = [one for one in sources if "openshift" not in str(one)]
        for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]:
            for mount in container.get("volumeMounts") or ():
                mount["name"] = "token"
    return seen


def rewritten(found: Object, stored: Object) -> Object:
    """Give a recorded new object as an update of what is stored here."""
    metadata = {**found["metadata"]}
    for key in RANDOM:
        metadata.pop(key, None)
    return {**found, "metadata": metadata | {"uid": stored["metadata"]["uid"]}}


def credential(user: Object) -> str:
    """Give the id of what our own user of that name shows; those of controllers are tokens."""
    name: str = user["username"]
    ours = {one.name: one.credential for one in (ADMIN, SCHEDULER)}
    return of_token(name) if name.startswith(SERVICE_ACCOUNT) else ours.get(name, "")


def write_again(server: ApiServer, want: Object) -> Awaitable[object]:
    """Make the write that was recorded."""
    user = want["userInfo"]
    call = Call(
        User(user["username"], tuple(user["groups"]), user.get("uid", ""), credential(user)),
        want["dryRun"],
        want["options"],
    )
    below, name = want.get("subResource", ""), want.get("name", "")
    target = Target(PODS, NAMESPACE, name, below)
    if want["operation"] == "DELETE":
        options = Options.read(want["options"])
        return server.writes.delete(target, options, replace(call, options={}))
    if want["operation"] == "UPDATE":
        return server.writes.update(target, lambda old: rewritten(want["object"], old), call)
    if below == "binding":
        body = rewritten(want["object"], server.store.get(PODS, NAMESPACE, name).object)
        return actions.bind(server.store, server.writes, target, body, call)
    if below == "eviction":
        return actions.evict(server.writes, target, want["object"], call)
    return server.writes.create(target._replace(name=""), as_written(want["object"]), call)


def prepare(server: ApiServer, name: str, want: Object) -> None:
    """Put into the store what was there when the request was recorded."""
    there = want["oldObject"]
    if want.get("subResource") in ("binding", "eviction"):
        there = {**request("01-create-bare-odd")["object"]}
        there["metadata"] = {"name": want["name"]}
    if there is not None:
        server.store.create(PODS, NAMESPACE, there)
    if "limitrange" in name:
        limits = [{"type": "Container", "default": {"cpu": "1500m", "memory": "512Mi"}}]
        bounds = {"metadata": {"name": "bounds"}, "spec": {"limits": limits}}
        server.store.create(LIMIT_RANGES, NAMESPACE, bounds)


@pytest.mark.parametrize("name", NAMES)
def test_the_review_is_the_one_that_a_real_api_server_sent(
    hooked: Wire, webhook: ScriptedWebhook, name: str
) -> None:
    want, server = request(name), hooked.server
    # What stood there loses its owner: without one, the collector would take it at once.
    (want["oldObject"] or {}).get("metadata", {}).pop("ownerReferences", None)
    hooked.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    server.call(lambda: prepare(server, name, want))
    entry = hook(NAME, webhook.config(), rules=[EVERYTHING])
    hooked.post(HOOKS, configuration(entry))

    async def write() -> None:
        await write_again(server, want)

    server.wait_for(write())
    (sent,) = webhook.sent
    got = comparable(sent.review["request"])
    assert got == comparable(want)
    assert set(sent.review) == {"kind", "apiVersion", "request"}
