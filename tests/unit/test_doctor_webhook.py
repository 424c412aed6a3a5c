"""What `evencore doctor` says of the webhook: its configuration, and whether it is called."""

from __future__ import annotations

from datetime import timedelta

import pytest
from builders import NOW, namespace, pod
from doctor_builders import ENABLED, Object, enabled, found, hooks, world

from evencore.doctor import calling, configuration
from evencore.doctor.trying import address_of, trial_namespaces, trial_of
from evencore.doctor.world import Call, Handshake, Shake, Trial
from evencore.domain.policy import Policy

# --- the configuration


def test_hooks_of_others_are_not_ours() -> None:
    assert found(configuration.missing) == {}
    other = hooks("other.example", namespaceSelector={})
    assert list(found(configuration.missing, other)) == ["MutatingWebhookConfiguration"]
    renamed = hooks("other.example")  # it selects by our label
    assert found(configuration.missing, renamed) == {}


@pytest.mark.parametrize(
    ("rule", "asks"),
    [
        ({"operations": ["*"], "apiGroups": ["*"], "resources": ["*"]}, True),
        ({"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}, True),
        ({"operations": ["UPDATE"], "apiGroups": [""], "resources": ["pods"]}, False),
        ({"operations": ["CREATE"], "apiGroups": ["apps"], "resources": ["pods"]}, False),
        ({"operations": ["CREATE"], "apiGroups": [""], "resources": ["services"]}, False),
        ({}, False),
    ],
)
def test_rules_must_name_new_pods(rule: Object, asks: bool) -> None:  # noqa: FBT001
    assert bool(found(configuration.rules, hooks(rules=[rule]))) is not asks


def test_it_must_be_asked_again_after_injectors() -> None:
    (one,) = configuration.rules(world(hooks(reinvocationPolicy="Never")))
    assert one.id == "webhook-reinvocation"
    assert '"path":"/webhooks/1/reinvocationPolicy"' in one.remedy


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        (None, True),
        ({"matchLabels": ENABLED}, True),
        ({"matchLabels": {"other": "x"}}, False),
        ({"matchLabels": {**ENABLED, "other": "x"}}, False),
        ({"matchExpressions": [{"key": "other", "operator": "NotIn", "values": ["x"]}]}, True),
        ({"matchExpressions": [{"key": "other", "operator": "In", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "other", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "other", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "other", "operator": "Perhaps"}]}, False),
    ],
)
def test_the_namespace_selector_must_match_somebody(
    selector: Object | None,
    matches: bool,  # noqa: FBT001
) -> None:
    assert bool(found(configuration.selector, hooks(namespaceSelector=selector))) is not matches


@pytest.mark.parametrize(
    ("policy", "selector", "locked"),
    [
        ("Ignore", {}, False),
        ("Fail", {}, True),
        (None, {}, True),  # the API server's default
        ("Fail", {"matchLabels": ENABLED}, False),
    ],
)
def test_with_fail_our_own_namespace_must_be_left_out(
    policy: str | None,
    selector: Object,
    locked: bool,  # noqa: FBT001
) -> None:
    made = hooks(failurePolicy=policy, namespaceSelector=selector)
    assert bool(found(configuration.fail_closed, made)) is locked


def test_kube_system_never_takes_part_whatever_its_label_says() -> None:
    only = [namespace("apps"), enabled("kube-system"), enabled("evencore-system")]
    policy = Policy(ignored_namespaces=frozenset({"kube-system", "evencore-system"}))
    assert "Namespace" in found(configuration.participants, *only, policy=policy)
    assert found(configuration.participants) == {}


# --- whether it is called


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (Call.CHANGED, None),
        (Call.UNCHANGED, "webhook-not-called"),
        (Call.FAILED, "webhook-call-fails"),
        (Call.UNKNOWN, "webhook-called"),
    ],
)
def test_the_trial_tells(call: Call, want: str | None) -> None:
    ids = [one.id for one in calling.trial(world(trial=Trial("apps", call, "said")))]
    assert ids == ([want] if want else [])


def test_the_proof_is_our_annotation() -> None:
    changed = pod().annotate("evencore.io/original-cpu", "{}").obj
    assert trial_of("apps", changed, "", failed=False).call is Call.CHANGED
    # What merely has the annotation that the trial itself carries was not through our hands.
    assert trial_of("apps", pod().annotate("evencore.io/cpu", "round-up").obj, "", failed=False)[
        1
    ] is (Call.UNCHANGED)
    assert trial_of("apps", None, "no", failed=True).call is Call.FAILED
    assert trial_of("apps", None, "no", failed=False).call is Call.UNKNOWN


def test_trials_are_made_where_we_should_be_called() -> None:
    many = [enabled(name) for name in "abcd"]
    assert trial_namespaces(world(*many)) == ["a", "apps", "b"]
    assert trial_namespaces(world(hooks("other.example", namespaceSelector={}))) == []
    assert trial_namespaces(world(hooks(namespaceSelector={"matchLabels": {"x": "y"}}))) == []


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"url": "https://10.0.0.1:8443/mutate"}, "10.0.0.1:8443"),
        ({"url": "https://hook.example/mutate"}, "hook.example:443"),
        ({"url": "https://hook.example:port/"}, None),
        ({"service": {"namespace": "ns", "name": "hook"}, "caBundle": "UEVN"}, "hook.ns.svc:443"),
        (
            {"service": {"namespace": "ns", "name": "hook", "port": 8443}, "caBundle": "UEVN"},
            "hook.ns.svc:8443",
        ),
        ({"service": {"namespace": "ns", "name": "hook"}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_where_hands_are_shaken(config: Object | None, where: str | None) -> None:
    (placed,) = world(hooks(clientConfig=config)).hooks
    address = address_of(placed.hook)
    assert (address.text if address else None) == where


def test_a_bundle_that_is_rubbish_trusts_nobody() -> None:
    (placed,) = world(hooks(clientConfig={"url": "https://a/", "caBundle": "?"})).hooks
    address = address_of(placed.hook)
    assert address is not None
    assert address.bundle


def test_a_service_needs_a_bundle() -> None:
    service = {"service": {"namespace": "ns", "name": "hook"}}
    (one,) = calling.bundles(world(hooks(clientConfig=service)))
    assert one.id == "cabundle-missing"
    assert not list(calling.bundles(world(hooks(clientConfig={"url": "https://a/"}))))


def shaken(shake: Shake, **more: object) -> dict[str, Handshake]:
    return {"pods.evencore.io": Handshake(shake, "a:443", **more)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shake", "called", "want"),
    [
        (Shake.GOOD, Call.UNCHANGED, []),
        (Shake.UNTRUSTED, Call.UNCHANGED, ["cabundle-mismatch"]),
        (Shake.EXPIRED, Call.UNCHANGED, ["certificate-expired"]),
        (Shake.OTHER_NAME, Call.UNCHANGED, ["certificate-name"]),
        (Shake.UNREACHABLE, Call.UNCHANGED, ["webhook-unreachable"]),
        # A cluster's names and addresses are seldom known outside of it.
        (Shake.UNREACHABLE, Call.CHANGED, []),
    ],
)
def test_handshakes(shake: Shake, called: Call, want: list[str]) -> None:
    made = world(trial=Trial("apps", called), handshakes=shaken(shake))
    assert [one.id for one in calling.handshakes(made)] == want


@pytest.mark.parametrize(
    ("age", "left", "late"),
    [(60, 30, False), (66, 24, False), (70, 20, True), (87, 3, True)],
)
def test_a_certificate_is_renewed_at_two_thirds_of_its_life(
    age: int,
    left: int,
    late: bool,  # noqa: FBT001
) -> None:
    days = timedelta(days=1)
    hands = shaken(Shake.GOOD, not_before=NOW - age * days, not_after=NOW + left * days)
    assert bool(list(calling.renewal(world(handshakes=hands)))) is late


def test_it_says_when_it_ends_and_when_it_should_have_been_renewed() -> None:
    """Case 59: it expires in 3 days, and should have been renewed 7 days ago."""
    life = timedelta(days=30)
    after = NOW + timedelta(days=3)
    hands = shaken(Shake.GOOD, not_before=after - life, not_after=after)
    (one,) = calling.renewal(world(handshakes=hands))
    assert "expires in 3 d 0 h (2026-03-04 10:40Z)" in one.text
    assert "should have been renewed on 2026-02-22" in one.text


def test_a_service_needs_endpoints() -> None:
    unproved = {"trial": Trial("apps", Call.UNCHANGED)}
    ready = {"evencore-system/webhook": 0}
    (one,) = calling.endpoints(world(ready=ready, **unproved))
    assert (one.id, one.object) == ("endpoints-missing", "Service evencore-system/webhook")
    assert not list(calling.endpoints(world(ready={"evencore-system/webhook": 1}, **unproved)))
    assert not list(calling.endpoints(world(ready={}, **unproved)))  # nobody could tell
    assert not list(calling.endpoints(world(ready=ready)))  # it was called, so somebody is there
