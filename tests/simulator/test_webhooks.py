"""Mutating webhooks on the wire: who is asked, in which order, and what they are sent."""

from __future__ import annotations

import base64

import pytest
from certificates import Authority
from scripted_webhook import (
    HOOKS,
    NAME,
    ScriptedWebhook,
    configuration,
    hook,
    install,
    label,
    patch,
    webhook_with,
)
from simulator_support import MAPS, PODS, Object, Wire, config_map, pod

from simulator import tls
from simulator.api.bodies import MERGE_PATCH


@pytest.fixture
def api(hooked: Wire) -> Wire:
    return hooked


def labelled(name: str = "p", **labels: str) -> Object:
    made = pod(name)
    made["metadata"]["labels"] = labels
    return made


class TestTheRequest:
    """What is sent."""

    def test_its_head_is_the_one_that_an_api_server_sends(
        self, api: Wire, webhook: ScriptedWebhook
    ) -> None:
        install(api, webhook, timeoutSeconds=5)
        api.post(PODS, pod())
        (sent,) = webhook.sent
        assert sent.path == "/mutate?timeout=5s"
        assert dict(sent.headers) | {"Content-Length": ""} == {
            "Host": "evencore-webhook.evencore.svc:443",
            "User-Agent": "kube-apiserver-admission",
            "Content-Length": "",
            "Accept": "application/json, */*",
            "Content-Type": "application/json",
            "Accept-Encoding": "gzip",
        }

    def test_the_connection_is_kept(self, api: Wire, webhook: ScriptedWebhook) -> None:
        install(api, webhook)
        for name in "abc":
            api.post(PODS, pod(name))
        assert len({one.connection for one in webhook.sent}) == 1

    def test_a_webhook_by_url_is_called_there_and_any_authority_of_the_bundle_will_do(
        self, api: Wire
    ) -> None:
        identity = tls.make()
        bundle = base64.b64encode((Authority().pem + identity.ca).encode()).decode()
        with webhook_with(identity.context, identity.ca) as webhook:
            url = f"https://127.0.0.1:{webhook.port}/by-url"
            entry = hook(NAME, {"url": url, "caBundle": bundle})
            api.post(HOOKS, configuration(entry))
            api.post(PODS, pod())
        (sent,) = webhook.sent
        assert sent.path == "/by-url?timeout=10s"
        assert dict(sent.headers)["Host"] == f"127.0.0.1:{webhook.port}"

    def test_its_certificate_must_be_for_the_host_of_the_url(
        self, api: Wire, webhook: ScriptedWebhook
    ) -> None:
        url = f"https://localhost:{webhook.port}/by-url"
        entry = hook(NAME, {"url": url, "caBundle": webhook.config()["caBundle"]})
        api.post(HOOKS, configuration(entry))
        status, body = api.ask("POST", PODS, pod())
        assert status == 500
        assert body["message"].endswith(
            f'Post "{url}?timeout=10s": tls: failed to verify certificate: x509: certificate is '
            "not valid for localhost"
        )

    def test_a_patch_shows_old_and_new_as_an_update(
        self, api: Wire, webhook: ScriptedWebhook
    ) -> None:
        api.post(PODS, labelled(a="1"))
        rule = {
            "operations": ["*"],
            "apiGroups": ["*"],
            "apiVersions": ["*"],
            "resources": ["*/*"],
        }
        install(api, webhook, rules=[rule])
        api.patch(f"{PODS}/p?fieldManager=me", {"metadata": {"labels": {"a": "2"}}}, MERGE_PATCH)
        (sent,) = webhook.sent
        request = sent.review["request"]
        assert request["operation"] == "UPDATE"
        assert request["options"] == {
            "kind": "UpdateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
        }
        labels = [request[part]["metadata"]["labels"] for part in ("oldObject", "object")]
        assert labels == [{"a": "1"}, {"a": "2"}]


WHO_IS_ASKED: dict[str, tuple[Object, bool]] = {
    "any new pod": ({}, True),
    "its namespace has the label": (
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}},
        True,
    ),
    "its namespace has not": (
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}},
        False,
    ),
    "it has the label": ({"objectSelector": {"matchLabels": {"a": "1"}}}, True),
    "it has not": ({"objectSelector": {"matchLabels": {"a": "2"}}}, False),
    "all conditions hold": (
        {
            "matchConditions": [
                {"name": "who", "expression": 'request.userInfo.username != "nobody"'},
                {"name": "what", "expression": "object.spec.containers.all(c, c.name == 'app')"},
                {"name": "new", "expression": "oldObject == null"},
            ]
        },
        True,
    ),
    "one condition does not hold, and another cannot be evaluated": (
        {
            "matchConditions": [
                {"name": "broken", "expression": "object.nothing.here"},
                {"name": "no", "expression": "request.operation == 'DELETE'"},
            ]
        },
        False,
    ),
    "a condition cannot be evaluated, and failures are ignored": (
        {
            "failurePolicy": "Ignore",
            "matchConditions": [{"name": "broken", "expression": "object.nothing.here"}],
        },
        False,
    ),
}


@pytest.mark.parametrize(("more", "want"), WHO_IS_ASKED.values(), ids=WHO_IS_ASKED)
def test_who_is_asked(api: Wire, webhook: ScriptedWebhook, more: Object, *, want: bool) -> None:
    install(api, webhook, **more)
    api.post(PODS, labelled(a="1"))
    assert bool(webhook.sent) is want


def test_a_condition_that_cannot_be_evaluated_fails_the_write(
    api: Wire, webhook: ScriptedWebhook
) -> None:
    broken = {"name": "broken", "expression": "object.nothing.here"}
    install(api, webhook, matchConditions=[broken])
    status, body = api.ask("POST", PODS, pod())
    assert (status, body["reason"]) == (403, "Forbidden")
    assert "match condition 'broken'" in body["message"]


def test_no_webhook_stands_between_a_person_and_its_own_removal(
    api: Wire, webhook: ScriptedWebhook
) -> None:
    webhook.says("/mutate", allowed=False)
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    install(api, webhook, rules=[rule])
    assert api.ask("POST", MAPS, config_map())[0] == 400
    assert api.ask("DELETE", f"{HOOKS}/hooks")[0] == 200
    assert api.ask("POST", MAPS, config_map())[0] == 201


class TestTheOrder:
    """Who comes after whom, and who once more."""

    def test_configurations_by_name_then_hooks_as_written(
        self, api: Wire, webhook: ScriptedWebhook
    ) -> None:
        b = [hook(f"{path}.hooks.example", webhook.config(f"/{path}")) for path in ("z", "a")]
        api.post(HOOKS, configuration(*b, name="b"))
        first = hook("first.hooks.example", webhook.config("/first"))
        api.post(HOOKS, configuration(first, name="a"))
        api.post(PODS, pod())
        assert webhook.paths() == ["/first", "/z", "/a"]

    def test_each_sees_what_the_one_before_left(self, api: Wire, webhook: ScriptedWebhook) -> None:
        webhook.says("/a", **label("by", "a"))
        hooks = [hook(f"{path}.hooks.example", webhook.config(f"/{path}")) for path in "ab"]
        api.post(HOOKS, configuration(*hooks))
        made = api.post(PODS, pod())
        assert webhook.sent[1].review["request"]["object"]["metadata"]["labels"] == {"by": "a"}
        assert made["metadata"]["labels"] == {"by": "a"}

    @pytest.mark.parametrize(
        ("first", "second", "want"),
        [
            ("IfNeeded", "Never", ["/a", "/b", "/a"]),
            ("Never", "IfNeeded", ["/a", "/b"]),
            ("IfNeeded", "IfNeeded", ["/a", "/b", "/a"]),
        ],
    )
    def test_who_was_asked_before_a_change_is_asked_again_if_it_wishes(
        self, api: Wire, webhook: ScriptedWebhook, first: str, second: str, want: list[str]
    ) -> None:
        webhook.says("/b", **label("by", "b"))
        hooks = [
            hook(f"{path}.hooks.example", webhook.config(f"/{path}"), reinvocationPolicy=policy)
            for path, policy in (("a", first), ("b", second))
        ]
        api.post(HOOKS, configuration(*hooks))
        api.post(PODS, pod())
        assert webhook.paths() == want
        if len(want) > 2:
            assert webhook.sent[2].review["request"]["object"]["metadata"]["labels"] == {"by": "b"}

    def test_built_in_plug_ins_complete_what_a_webhook_adds(
        self, api: Wire, webhook: ScriptedWebhook
    ) -> None:
        sidecar = {"name": "added", "image": "registry.example/sidecar:1"}
        webhook.says(
            "/mutate", **patch({"op": "add", "path": "/spec/containers/-", "value": sidecar})
        )
        install(api, webhook)
        made = api.post(PODS, pod())
        app, added = made["spec"]["containers"]
        assert added["terminationMessagePolicy"] == "File"
        assert [one["mountPath"] for one in added["volumeMounts"]] == [
            one["mountPath"] for one in app["volumeMounts"]
        ]


def test_dry_runs_are_told_and_a_delete_shows_the_old_object(
    api: Wire, webhook: ScriptedWebhook
) -> None:
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    install(api, webhook, rules=[rule])
    api.post(f"{PODS}?dryRun=All", pod())
    api.post(PODS, pod())
    api.ask("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
    dry, _, gone = (one.review["request"] for one in webhook.sent)
    assert (dry["dryRun"], dry["options"]["dryRun"]) == (True, ["All"])
    assert (gone["operation"], gone["object"]) == ("DELETE", None)
    assert gone["oldObject"]["metadata"]["name"] == gone["name"] == "p"


EVENT = {
    "metadata": {"name": "e", "namespace": "default"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    "message": "hello",
    "type": "Normal",
}
EVENTS_RULE = {
    "operations": ["CREATE"],
    "apiGroups": ["events.k8s.io"],
    "apiVersions": ["v1"],
    "resources": ["events"],
}


@pytest.mark.parametrize(("policy", "asked"), [("Equivalent", True), ("Exact", False)])
def test_a_rule_for_another_version_counts_if_equivalent_will_do(
    api: Wire, webhook: ScriptedWebhook, policy: str, *, asked: bool
) -> None:
    webhook.says("/mutate", **patch({"op": "replace", "path": "/note", "value": "patched"}))
    install(api, webhook, rules=[EVENTS_RULE], matchPolicy=policy)
    made = api.post("/api/v1/namespaces/default/events", EVENT)
    assert made["message"] == ("patched" if asked else "hello")
    if asked:
        request = webhook.sent[0].review["request"]
        assert request["kind"]["group"] == "events.k8s.io"
        assert request["requestKind"] == {"group": "", "version": "v1", "kind": "Event"}
        assert request["object"]["regarding"] == EVENT["involvedObject"]
