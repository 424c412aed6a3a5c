"""Annotations on pods over namespaces over the policy file, and what is told of wrong ones."""

from __future__ import annotations

import pytest

from evencore.domain.annotations import PodPolicy, policy_for
from evencore.domain.policy import CpuMode, OnRejection, Policy, TopologyMode
from evencore.domain.resources import Amount, ContainerAmounts, Kind

CONTAINERS = [
    ContainerAmounts(name, Kind.APP, position, Amount(None, None), Amount(None, None))
    for position, name in enumerate(("app", "log"))
]
CPU = "evencore.io/cpu"
OF_APP = "evencore.io/cpu.app"


def _for(
    pod: dict[str, str], namespace: dict[str, str] | None = None, policy: Policy | None = None
) -> PodPolicy:
    return policy_for(policy or Policy(), pod, namespace or {}, CONTAINERS)


PRECEDENCE = {
    "the file, if nobody says more": ({}, {}, "warn"),
    "the namespace over the file": ({}, {CPU: "deny"}, "deny"),
    "the pod over the namespace": ({CPU: "keep"}, {CPU: "deny"}, "keep"),
    "the pod for one container over the pod for all": (
        {CPU: "keep", OF_APP: "deny"},
        {},
        "deny",
    ),
    "the namespace for one container over the namespace for all": (
        {},
        {CPU: "keep", OF_APP: "deny"},
        "deny",
    ),
    "the pod for all over the namespace for one": ({CPU: "keep"}, {OF_APP: "deny"}, "keep"),
    "the namespace for one, if the pod says nothing": ({}, {OF_APP: "deny"}, "deny"),
    "a wrong value on the pod falls back to the namespace": (
        {CPU: "Keep"},
        {CPU: "deny"},
        "deny",
    ),
    "a wrong value for one falls back to that for all": (
        {CPU: "keep", OF_APP: ""},
        {},
        "keep",
    ),
    "a wrong value on the namespace falls back to the file": ({}, {CPU: "up"}, "warn"),
}


@pytest.mark.parametrize(("pod", "namespace", "want"), PRECEDENCE.values(), ids=PRECEDENCE)
def test_who_goes_before_whom(pod: dict[str, str], namespace: dict[str, str], want: str) -> None:
    found = _for(pod, namespace, Policy.from_mapping({"cpu": "warn"}))
    assert found.cpu_mode("app") == want


def test_a_mode_for_one_container_is_not_one_for_another() -> None:
    assert _for({OF_APP: "keep"}).cpu_mode("log") is CpuMode.ROUND_UP


def test_topology_and_on_rejection_follow_the_same_order() -> None:
    pod = {"evencore.io/topology": "off"}
    namespace = {"evencore.io/topology": "preferred", "evencore.io/on-rejection": "report"}
    found = _for(pod, namespace)
    assert (found.topology, found.on_rejection) == (TopologyMode.OFF, OnRejection.REPORT)


WARNINGS = {
    "a wrong value names place, value and what is allowed": (
        {CPU: "Keep"},
        {},
        ["annotation evencore.io/cpu: 'Keep' is not round-up, warn, deny or keep; ignored"],
    ),
    "on the namespace, too": (
        {},
        {"evencore.io/topology": "on"},
        [
            (
                "namespace annotation evencore.io/topology: 'on' is not required, preferred or off;"
                " ignored"
            )
        ],
    ),
    "control characters are escaped": (
        {"evencore.io/on-rejection": "a\n"},
        {},
        [r"annotation evencore.io/on-rejection: 'a\n' is not hold, exclude or report; ignored"],
    ),
    "a container that the pod does not have": (
        {"evencore.io/cpu.web": "keep"},
        {},
        ["annotation evencore.io/cpu.web: the pod has no container 'web'; ignored"],
    ),
    "but a namespace may name containers that only some pods have": (
        {},
        {"evencore.io/cpu.web": "keep"},
        [],
    ),
    "an unknown annotation under our name": (
        {"evencore.io/cpus": "keep"},
        {},
        ["annotation 'evencore.io/cpus' is unknown; did you mean evencore.io/cpu?"],
    ),
    "one that is like none of ours": (
        {"evencore.io/x": "keep"},
        {},
        [
            (
                "annotation 'evencore.io/x' is unknown; known: evencore.io/cpu, "
                "evencore.io/topology, evencore.io/on-rejection"
            )
        ],
    ),
    "what we write ourselves is no mistake": (
        {"evencore.io/decision": "x", "evencore.io/original-cpu": "{}"},
        {},
        [],
    ),
    "annotations of others are not ours to judge": ({"team.example/cpu": "x"}, {}, []),
}


@pytest.mark.parametrize(("pod", "namespace", "want"), WARNINGS.values(), ids=WARNINGS)
def test_what_is_wrong_is_told(
    pod: dict[str, str], namespace: dict[str, str], want: list[str]
) -> None:
    assert list(_for(pod, namespace).warnings) == want


def test_thousands_of_mistakes_are_counted_not_listed() -> None:
    pod = {f"evencore.io/x{number}": "y" for number in range(3000)}
    warnings = _for(pod).warnings
    assert len(warnings) == 5
    assert warnings[-1] == "2996 more like these"
