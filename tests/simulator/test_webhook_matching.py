"""Which writes the rules of a webhook are about."""

from __future__ import annotations

import pytest
from scripted_webhook import configuration, hook
from simulator_support import Object, pod

from simulator.admission.chain import Attributes, User
from simulator.admission.webhooks.matching import asked_as
from simulator.admission.webhooks.model import hooks_of
from simulator.api.routing import Target
from simulator.resources import DEPLOYMENTS, NAMESPACES, OLD_TOPOLOGIES, PODS, TOPOLOGIES

POD, STATUS = Target(PODS, "default"), Target(PODS, "default", "p", "status")
NAMESPACE = Target(NAMESPACES, "", "n")
CASES: dict[str, tuple[Object, Target, bool]] = {
    "its own resource": ({}, POD, True),
    "another": ({"resources": ["nodes"]}, POD, False),
    "another operation": ({"operations": ["UPDATE", "DELETE"]}, POD, False),
    "all operations": ({"operations": ["*"]}, POD, True),
    "another group": ({"apiGroups": ["apps"]}, POD, False),
    "another version": ({"apiVersions": ["v2"]}, POD, False),
    "all groups and versions": (
        {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["deployments"]},
        Target(DEPLOYMENTS, "default"),
        True,
    ),
    "the resource is not its subresources": ({}, STATUS, False),
    "* is no subresource either": ({"resources": ["*"]}, STATUS, False),
    "*/* is": ({"resources": ["*/*"]}, STATUS, True),
    "pods/* is": ({"resources": ["pods/*"]}, STATUS, True),
    "pods/* is the pod, too": ({"resources": ["pods/*"]}, POD, True),
    "*/status is": ({"resources": ["*/status"]}, STATUS, True),
    "*/status is not the pod": ({"resources": ["*/status"]}, POD, False),
    "pods/binding is not": ({"resources": ["pods/binding"]}, STATUS, False),
    "namespaced": ({"scope": "Namespaced"}, POD, True),
    "not cluster-wide": ({"scope": "Cluster"}, POD, False),
    "a namespace is cluster-wide": (
        {"scope": "Cluster", "resources": ["namespaces"]},
        NAMESPACE,
        True,
    ),
    "a namespace is not namespaced": (
        {"scope": "Namespaced", "resources": ["namespaces"]},
        NAMESPACE,
        False,
    ),
}


def write(target: Target) -> Attributes:
    return Attributes("CREATE", target, User("me"), pod(), None, {})


@pytest.mark.parametrize(("rule", "target", "want"), CASES.values(), ids=CASES)
def test_a_rule_is_about(rule: Object, target: Target, *, want: bool) -> None:
    entry = hook("a.b.example", {"url": "https://h.example"})
    entry["rules"] = [{**entry["rules"][0], "operations": ["CREATE"], **rule}]
    (made,) = hooks_of([configuration(entry)])
    assert (asked_as(made, write(target), [target.resource]) is not None) is want


def test_an_equivalent_version_is_what_the_webhook_is_shown() -> None:
    rule = {
        "operations": ["CREATE"],
        "apiGroups": ["topology.node.k8s.io"],
        "apiVersions": ["v1alpha1"],
        "resources": ["noderesourcetopologies"],
    }
    (made,) = hooks_of([configuration(hook("a.b.example", {"url": "https://h"}, rules=[rule]))])
    equals = [TOPOLOGIES, OLD_TOPOLOGIES]
    assert asked_as(made, write(Target(TOPOLOGIES)), equals) is OLD_TOPOLOGIES
