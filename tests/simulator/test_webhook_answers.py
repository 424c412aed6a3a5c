"""What an answer of a webhook does, and what happens without one."""

from __future__ import annotations

import base64
import re

import pytest
from certificates import Authority
from scripted_webhook import (
    HOOKS,
    NAME,
    Raw,
    ScriptedWebhook,
    configuration,
    hook,
    install,
    label,
    response,
)
from simulator_support import PODS, Object, Wire, pod

BY = f'admission webhook "{NAME}" denied the request'
FAILED = f'Internal error occurred: failed calling webhook "{NAME}": '
POST = 'failed to call webhook: Post "https://evencore-webhook.evencore.svc:443/mutate?timeout=10s"'


@pytest.fixture
def api(hooked: Wire) -> Wire:
    return hooked


DENIED: dict[str, tuple[Object, tuple[int, str | None, str]]] = {
    "with a code and a text": (
        {"code": 403, "message": "no"},
        (403, None, f"{BY}: no"),
    ),
    "with all that a Status has": (
        {"code": 422, "message": "no", "reason": "Invalid", "details": {"name": "x"}},
        (422, "Invalid", f"{BY}: no"),
    ),
    "with a reason alone": ({"reason": "Forbidden"}, (400, "Forbidden", f"{BY}: Forbidden")),
    "with a code of success": ({"code": 200}, (400, None, f"{BY} without explanation")),
    "with a code that is none": ({"code": 499}, (499, None, f"{BY} without explanation")),
}


@pytest.mark.parametrize(("status", "want"), DENIED.values(), ids=DENIED)
def test_a_refusal_is_told_in_the_words_of_the_webhook(
    api: Wire, webhook: ScriptedWebhook, status: Object, want: tuple[int, str | None, str]
) -> None:
    webhook.says("/mutate", allowed=False, status=status)
    install(api, webhook, failurePolicy="Ignore")
    code, body = api.ask("POST", PODS, pod())
    assert (code, body.get("reason"), body["message"]) == want
    assert body["code"] == code
    assert body.get("details") == status.get("details")


@pytest.mark.parametrize("allowed", [True, False])
def test_warnings_reach_the_client_with_a_refusal_too(
    api: Wire, webhook: ScriptedWebhook, *, allowed: bool
) -> None:
    webhook.says("/mutate", allowed=allowed, warnings=["one", "two"])
    install(api, webhook)
    assert api.headers("POST", PODS, pod())["Warning"] == '299 - "one", 299 - "two"'


REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
JSON = {"Content-Type": "application/json"}
BAD_ANSWERS: dict[str, tuple[Object | Raw, str]] = {
    "no response": (REVIEW, "received invalid webhook response: webhook response was absent"),
    "another uid": (
        {**REVIEW, "response": {"uid": "x", "allowed": True}},
        'received invalid webhook response: expected response.uid="UID", got "x"',
    ),
    "another kind": (
        {"kind": "Other"},
        (
            "received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
            "Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Other"
        ),
    ),
    "a patch without its type": (
        {"patch": base64.b64encode(b"[]").decode()},
        (
            "received invalid webhook response: webhook returned response.patch but not "
            "response.patchType"
        ),
    ),
    "a type without a patch": (
        {"patchType": "JSONPatch"},
        (
            "received invalid webhook response: webhook returned response.patchType but not "
            "response.patch"
        ),
    ),
    "another type of patch": (
        {"patchType": "Merge", "patch": base64.b64encode(b"{}").decode()},
        'received invalid webhook response: webhook returned invalid response.patchType of "Merge"',
    ),
    "status 500": (
        Raw(500, b"oops"),
        (
            'failed to call webhook: an error on the server ("oops") has prevented the request '
            "from succeeding"
        ),
    ),
    "status 404": (
        Raw(404),
        "failed to call webhook: the server could not find the requested resource",
    ),
    "a page": (
        Raw(200, b"<p>", {"Content-Type": "text/html"}),
        "failed to call webhook: serializer for text/html doesn't exist",
    ),
    "no JSON": (Raw(200, b"{", JSON), "failed to call webhook: Input data was truncated"),
    "a closed connection": (Raw(cut=True), f"{POST}: EOF"),
}


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize(("answer", "why"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_an_answer_that_is_none_counts_as_the_failure_policy_says(
    api: Wire, webhook: ScriptedWebhook, answer: Object | Raw, why: str, policy: str
) -> None:
    def said(request: Object) -> Object | Raw:
        if isinstance(answer, Raw) or "apiVersion" in answer:
            return answer
        whole = response(request, **{k: v for k, v in answer.items() if k != "kind"})
        return {**whole, "kind": answer.get("kind", whole["kind"])}

    webhook.answer("/mutate", said)
    install(api, webhook, failurePolicy=policy)
    status, body = api.ask("POST", PODS, pod())
    if policy == "Ignore":
        assert status == 201
        return
    assert (status, body["reason"]) == (500, "InternalError")
    told = re.sub(r'uid="[-0-9a-f]{36}"', 'uid="UID"', body["message"])
    assert told == FAILED + why
    assert len(webhook.sent) == 1


BAD_PATCHES = {
    "of what is not there": [{"op": "remove", "path": "/spec/nothing"}],
    "with a test that fails": [{"op": "test", "path": "/kind", "value": "Node"}],
    "that is no list": {"op": "add"},
    "that makes another kind": [{"op": "replace", "path": "/kind", "value": "Node"}],
}


@pytest.mark.parametrize("operations", BAD_PATCHES.values(), ids=BAD_PATCHES)
def test_a_patch_that_cannot_be_applied_fails_whatever_the_failure_policy(
    api: Wire, webhook: ScriptedWebhook, operations: object
) -> None:
    encoded = base64.b64encode(str(operations).replace("'", '"').encode()).decode()
    webhook.says("/mutate", patch=encoded, patchType="JSONPatch")
    install(api, webhook, failurePolicy="Ignore")
    status, body = api.ask("POST", PODS, pod())
    assert (status, body["reason"]) == (500, "InternalError")


def test_a_webhook_that_is_busy_is_asked_again_when_it_says(
    api: Wire, webhook: ScriptedWebhook
) -> None:
    busy = Raw(429, headers={"Retry-After": "0"})
    webhook.answer("/mutate", lambda _: busy, lambda _: busy, response)
    install(api, webhook)
    api.post(PODS, pod())
    assert len(webhook.sent) == 3
    webhook.answer("/mutate", lambda _: busy)
    status, body = api.ask("POST", PODS, pod("q"))
    assert (status, len(webhook.sent)) == (500, 3 + 11)
    assert body["message"].endswith("has asked us to try again later")


def test_a_webhook_has_its_seconds_and_no_more(api: Wire, webhook: ScriptedWebhook) -> None:
    def never(request: Object) -> Object:
        webhook.release.wait()
        return response(request)

    webhook.answer("/mutate", never)
    install(api, webhook, timeoutSeconds=1)
    status, body = api.ask("POST", PODS, pod())
    assert status == 500
    assert body["message"].endswith('/mutate?timeout=1s": context deadline exceeded')


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (
            {"service": {"namespace": "evencore", "name": "other", "path": "/mutate"}},
            'service "other" not found',
        ),
        (
            {
                "service": {"namespace": "evencore", "name": "evencore-webhook"},
                "caBundle": base64.b64encode(Authority().pem.encode()).decode(),
            },
            "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        (
            {
                "service": {"namespace": "evencore", "name": "evencore-webhook"},
                "caBundle": base64.b64encode(b"nonsense").decode(),
            },
            (
                "could not get REST client: unable to load root certificates: unable to parse "
                "bytes as PEM block"
            ),
        ),
    ],
)
def test_whom_it_cannot_find_or_trust_it_does_not_ask(
    api: Wire, webhook: ScriptedWebhook, config: Object, why: str
) -> None:
    api.post(HOOKS, configuration(hook(NAME, config)))
    status, body = api.ask("POST", PODS, pod())
    assert status == 500
    assert body["message"].endswith(why)
    assert webhook.sent == []


def test_a_delete_cannot_be_patched(api: Wire, webhook: ScriptedWebhook) -> None:
    api.post(PODS, pod())
    rule = {"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["*"]}
    webhook.says("/mutate", **label("a"))
    install(api, webhook, rules=[rule])
    status, body = api.ask("DELETE", f"{PODS}/p")
    assert status == 500
    assert "attempted to modify the object" in body["message"]
