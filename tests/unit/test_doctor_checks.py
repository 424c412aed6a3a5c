"""Each check of `evencore doctor`: what it finds, and what it passes over."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from builders import NOW, _Object, failed, namespace, node, pod

from evencore.doctor import calling, configuration, controlling, machines, workloads
from evencore.doctor.report import CHECKS, diagnose
from evencore.doctor.trying import address_of, trial_namespaces, trial_of
from evencore.doctor.views import Lease
from evencore.doctor.world import Builder, Call, Handshake, Shake, Trial
from evencore.domain.policy import Policy
from evencore.domain.views import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from builders import Pod

    from evencore.doctor.finding import Finding
    from evencore.doctor.world import World

ENABLED = {"evencore.io/admission": "enabled"}
Object = dict[str, Any]


def hooks(name: str = "pods.evencore.io", **fields: object) -> _Object:
    """Make a webhook configuration with one webhook, healthy but for these fields."""
    rule = {"operations": ["CREATE"], "apiGroups": [""], "resources": ["pods"]}
    service = {"namespace": "evencore-system", "name": "webhook"}
    one = {
        "name": name,
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "rules": [rule],
        "namespaceSelector": {"matchLabels": ENABLED},
        "clientConfig": {"service": service, "caBundle": base64.b64encode(b"PEM").decode()},
    }
    return _Object(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "evencore",
        webhooks=[{"name": "else.example"}, one | fields],
    )


def lease(ago: timedelta = timedelta(seconds=3), **fields: object) -> Lease:
    at = (NOW - ago).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "c-1", "leaseDurationSeconds": 15, "renewTime": at, **fields}
    return read(Lease, {"spec": spec})[0]


def enabled(name: str = "apps") -> _Object:
    return namespace(name).label("evencore.io/admission", "enabled")


def world(*objects: _Object, **fields: object) -> World:
    """Return a cluster that is healthy but for these objects and fields."""
    builder = Builder()
    for one in (hooks(), enabled(), namespace("evencore-system"), namespace("kube-system")):
        if not any(_same(one, other) for other in objects):
            builder.take(one.obj)
    for one in objects:
        builder.take(one.obj)
    made = builder.world({}, Policy(), NOW, "evencore-system", "evencore-controller")
    made.lease, made.trial = lease(), Trial("apps", Call.CHANGED)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _same(one: _Object, other: _Object) -> bool:
    def key(it: _Object) -> tuple[str, str]:
        return it.obj["kind"], it.obj["metadata"]["name"]

    return key(one) == key(other)


def found(
    check: Callable[[World], Iterator[Finding]], *objects: _Object, **fields: object
) -> dict[str, str]:
    """Return object → text of what a check finds."""
    return {one.object: one.text for one in check(world(*objects, **fields))}


def test_a_healthy_cluster_has_no_findings() -> None:
    report = diagnose(world(node("n1").named().width(2)))
    assert (report.findings, report.status, report.called) == ((), 0, True)
    assert report.checked == len(CHECKS)


# --- the webhook configuration


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
    assert found(configuration.rules, hooks(rules=[rule])) is not asks


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
    assert found(configuration.selector, hooks(namespaceSelector=selector)) is not matches


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


# --- the controller


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lease(), None),
        (lease(timedelta(seconds=16)), "c-1 renewed its Lease 16s ago"),
        (lease(leaseDurationSeconds="x", ago=timedelta(seconds=14)), None),
        (lease(holderIdentity=""), "nobody holds its Lease"),
        (lease(renewTime=None), "its Lease was never renewed"),
        (Lease(), "nobody holds its Lease"),
        (None, "its Lease is not there"),
    ],
)
def test_the_lease_is_held_and_renewed(made: Lease | None, why: str | None) -> None:
    texts = [one.text for one in controlling.lease(world(lease=made))]
    assert [why in text for text in texts] == ([True] if why else [])  # type: ignore[operator]


def waiting(made: datetime = NOW, *gates: str) -> Pod:
    one = pod("held").metadata(namespace="apps", creationTimestamp=made.isoformat())
    names = [*gates, "evencore.io/hold"]
    return one.spec(schedulingGates=[{"name": name} for name in names])


def test_held_pods_need_a_controller_and_a_webhook() -> None:
    assert found(controlling.gates, waiting()) == {}
    assert (
        "nobody will let it go" in found(controlling.gates, waiting(), lease=None)["Pod apps/held"]
    )
    gone = found(controlling.gates, waiting(), hooks=())["Pod apps/held"]
    assert "no webhook configuration is there: an uninstall left it behind" in gone
    old = waiting(NOW - timedelta(minutes=18))
    assert "for 18m, longer than any" in found(controlling.gates, old)["Pod apps/held"]


def test_only_our_gate_is_taken_off() -> None:
    (one,) = controlling.gates(world(waiting(NOW, "other.example/g"), lease=None))
    assert '"path":"/spec/schedulingGates/1"}' in one.remedy
    assert '"op":"test","path":"/spec/schedulingGates/1/name"' in one.remedy


# --- nodes


def odd(node_name: str, width: int = 4) -> Pod:
    text = f"SMT Alignment Error: requested 6 cpus not multiple cpus per core = {width}"
    return failed(node_name).rejected(node_name, "SMTAlignmentError", text)


def test_the_kubelet_knows_the_width_best() -> None:
    assert list(found(machines.widths, node("n7"), odd("n7"))) == ["Node n7"]
    assert found(machines.widths, node("n7").width(4), odd("n7")) == {}
    assert (
        "goes by 2 (known of it)"
        in found(machines.widths, node("n7").width(2), odd("n7"))["Node n7"]
    )
    four = Policy(default_threads_per_core=4)
    assert found(machines.widths, node("n7"), odd("n7"), policy=four) == {}


def test_the_remedy_keeps_what_the_admin_wrote() -> None:
    made = node("n7").topology(numa=[22, 24], threadsPerCore=2)
    (one,) = machines.widths(world(made, odd("n7")))
    (text,) = [part for part in one.remedy.split("'") if part.startswith("{")]
    assert json.loads(text) == {"numa": [22, 24], "threadsPerCore": 4}
    torn = node("n7").annotate("evencore.io/topology", "{")
    (one,) = machines.widths(world(torn, odd("n7")))
    assert '{"threadsPerCore":4}' in one.remedy


def test_what_is_told_of_a_node_against_what_its_kubelet_does() -> None:
    """Case 29: it is said to have no policy, and refuses pods for their topology."""
    made = node("n1").named().topology(policy="none")
    text = found(machines.contradictions, made, failed("n1"))["Node n1"]
    assert "says policy none, but its kubelet refused pod" in text
    assert found(machines.contradictions, node("n1").named(), failed("n1")) == {}


def test_reserved_cpus_should_be_whole_cores() -> None:
    split = node("n1").topology(threadsPerCore=2, numa=[23, 24], fullPcpusOnly=True)
    assert "the reserved CPUs split a core" in found(machines.reserved, split)["Node n1"]
    whole = node("n1").topology(threadsPerCore=2, numa=[22, 24], fullPcpusOnly=True)
    assert found(machines.reserved, whole) == {}


def test_mixed_widths_are_a_note_and_no_illness() -> None:
    report = diagnose(world(node("n1").named().width(2), node("n2").named().width(4)))
    assert [one.id for one in report.findings] == ["mixed-widths"]
    assert report.status == 0


# --- workloads


def running(name: str, qos: str = "Guaranteed", **labels: str) -> Pod:
    made = pod(name).metadata(namespace="apps")
    made.obj["status"] = {"phase": "Running", "qosClass": qos}
    for key, value in labels.items():
        made.label(key.replace("_", "-"), value)
    return made


def test_a_sidecar_may_cost_a_pod_its_cpus() -> None:
    aligned = running("web", "Burstable").annotate("evencore.io/original-cpu", "{}")
    assert list(found(workloads.unpinned, aligned)) == ["Pod apps/web"]
    assert found(workloads.unpinned, running("other", "Burstable")) == {}
    good = running("web").annotate("evencore.io/original-cpu", "{}")
    assert found(workloads.unpinned, good) == {}


def test_an_owner_without_a_node() -> None:
    nodes = [node("n1"), node("n2")]
    both = [failed("n1"), failed("n2")]
    rejected = [one.metadata(namespace="apps") for one in both]
    assert list(found(workloads.nowhere, *nodes, *rejected)) == ["ReplicaSet apps/app"]
    assert found(workloads.nowhere, *nodes, rejected[0]) == {}
    # Only n2 takes pods, so n1 does not count.
    cordoned = node("n2")
    cordoned.obj["spec"] = {"unschedulable": True}
    assert list(found(workloads.nowhere, node("n1"), cordoned, rejected[0]))


def test_a_template_with_a_node_name_loops_for_ever() -> None:
    """Case 31."""
    rejected = [failed("n1", number=number).metadata(namespace="apps") for number in range(3)]
    made = world(*rejected)
    ((key, _),) = workloads.looping(made)
    made.pinned = {key: "n1"}
    (one,) = workloads.fixed_nodes(made)
    assert (one.id, one.object) == ("node-name-in-template", "ReplicaSet apps/app")
    assert one.remedy == "kubectl -n apps edit replicaset app"
    assert workloads.looping(world(rejected[0])) == []


def revision(made: Pod, number: str) -> Pod:
    made.owner()
    made.obj["metadata"]["ownerReferences"][-1].update(name=f"web-{number}", uid=f"rs-{number}")
    return made.label("pod-template-hash", number)


def test_an_update_that_waits_for_itself() -> None:
    old = [revision(running(f"old-{number}"), "aaa") for number in range(2)]
    held = revision(waiting(), "bbb")
    text = found(workloads.rollouts, *old, held)["Deployment apps/web"]
    assert "while 2 old pods hold theirs" in text
    assert found(workloads.rollouts, held) == {}
    assert found(workloads.rollouts, *old) == {}
    same = revision(running("same"), "bbb")
    assert found(workloads.rollouts, same, held) == {}


def test_an_update_whose_new_pods_are_rejected_waits_as_well() -> None:
    old = revision(running("old"), "aaa")
    new = revision(pod("new").metadata(namespace="apps", uid="new").rejected("n1"), "bbb")
    assert list(found(workloads.rollouts, old, new)) == ["Deployment apps/web"]
    long_ago = revision(pod("new").metadata(namespace="apps", uid="new"), "bbb")
    long_ago.rejected("n1", ago=timedelta(minutes=40))
    assert found(workloads.rollouts, old, long_ago) == {}


# --- what could not be read


@pytest.mark.parametrize(
    ("part", "lost"),
    [
        ("mutatingwebhookconfigurations", 10),
        ("pods", 7),
        ("nodes", 5),
        ("events", 1),
        ("leases", 2),
    ],
)
def test_what_may_not_be_read_is_unknown_and_not_healthy(part: str, lost: int) -> None:
    made = world(missing={part: "403"})
    report = diagnose(made)
    (one,) = report.findings
    assert (one.id, one.object, report.status) == ("not-checked", part, 2)
    assert report.checked == len(CHECKS) - lost


def test_what_is_wrong_counts_more_than_what_is_unknown() -> None:
    assert diagnose(world(lease=None, missing={"nodes": "403"})).status == 1


def test_findings_come_worst_first() -> None:
    report = diagnose(
        world(
            node("n1").width(2),
            node("n2").width(4),
            running("web", "Burstable").annotate("evencore.io/original-cpu", "{}"),
            lease=None,
            missing={"events": "403"},
        )
    )
    severities = [one.severity.value for one in report.findings]
    assert severities == sorted(severities, key=["error", "warning", "unknown", "note"].index)
    assert len(set(severities)) == 4


def test_rubbish_in_the_cluster_ends_nothing() -> None:
    builder = Builder()
    for odd_object in (None, 3, [], {"kind": "Pod"}, {"kind": "MutatingWebhookConfiguration"}):
        builder.take(odd_object)
    builder.take({"kind": "MutatingWebhookConfiguration", "webhooks": [{"rules": 3}, 4]})
    builder.take({"kind": "Pod", "metadata": {"annotations": 3}, "spec": [], "status": {}})
    made = builder.world({}, Policy(), NOW, "evencore-system", "evencore-controller")
    assert diagnose(made).status == 1
