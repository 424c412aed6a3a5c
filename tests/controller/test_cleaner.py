"""Which rejected pods are deleted, how fast, and which are left to others (cases 42 and 57)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from controller_parts import NOW, NUMA, ODD, ago, failed, pod, rejected
from wire.scripted import Answer, refusal

from controller.cleaner import (
    AT_A_TIME,
    LEFT_IN_A_LOOP,
    PAUSE_IN_A_LOOP_S,
    PAUSE_S,
    Cleaned,
    Cleaner,
    is_cleaned,
)
from controller.expectations import Expectations
from controller.state import Owner
from evencore.domain import names
from evencore.domain.policy import Policy, Rejections

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from wire.scripted import ScriptedServer

    from evencore.kube.writer import Writer

Object = dict[str, Any]
OLD = ago(3600)
POLICY = Policy(rejections=Rejections(keep=0))
WELL = Answer(body=b'{"kind":"Status"}')


def path(name: str) -> str:
    return f"/api/v1/namespaces/shop/pods/{name}"


def terminating(seconds: float, **more: Any) -> Object:  # noqa: ANN401  metadata of a pod
    return failed(pod(deletionTimestamp=ago(seconds).isoformat(), **more), at=OLD)


def many(number: int, at: datetime = OLD, why: tuple[str, str] = NUMA) -> list[Object]:
    return [failed(pod(f"p{n}"), at=at, why=why) for n in range(number)]


class Desk:
    """A Cleaner, and a server that lets it delete everything."""

    def __init__(self, server: ScriptedServer, writer: Writer, policy: Policy = POLICY) -> None:
        self.server = server
        self.cleaner = Cleaner(writer, policy, Expectations())

    def clean(self, *objects: Object, needed: bool = False, **namespace: str) -> Cleaned:
        written: Mapping[str, str] = {f"{names.PREFIX}{k}": v for k, v in namespace.items()}
        for obj in objects:
            self.server.otherwise(path(obj["metadata"]["name"]), WELL)
        pods = rejected(*objects)
        return self.cleaner.clean(pods, () if needed else frozenset(pods), written, NOW)

    def sent(self) -> list[tuple[str, str, object]]:
        """Return the deletes, as name, uid and grace period."""
        bodies = [
            (seen.path.rpartition("/")[2], json.loads(seen.body)) for seen in self.server.seen
        ]
        return [
            (name, body["preconditions"]["uid"], body.get("gracePeriodSeconds"))
            for name, body in bodies
        ]


@pytest.fixture
def desk(server: ScriptedServer, writer: Writer) -> Desk:
    return Desk(server, writer)


@pytest.mark.parametrize(
    ("api_version", "kind", "want"),
    [
        ("apps/v1", "ReplicaSet", True),
        ("v1", "ReplicationController", True),
        ("apps.kruise.io/v1alpha1", "ReplicaSet", False),
        ("batch/v1", "Job", False),
        ("apps/v1", "StatefulSet", False),
        ("example.io/v1", "Cluster", False),
        ("v1", "Pod", False),
    ],
)
def test_only_owners_that_leave_their_pods_lying_about(
    api_version: str, kind: str, *, want: bool
) -> None:
    assert is_cleaned(Owner(api_version, kind, "shop", "x", "u")) is want


@pytest.mark.parametrize(
    ("obj", "grace"),
    [
        pytest.param(failed(pod(), at=OLD), [None], id="fresh: one delete, then it is left alone"),
        pytest.param(terminating(10), [], id="terminating for 10 s: no request"),
        pytest.param(terminating(600), [0], id="terminating for 10 min: one forced delete"),
        pytest.param(
            terminating(600, finalizers=["example.io/hold"]), [], id="somebody's finalizer: none"
        ),
        pytest.param(terminating(600, node="n-gone"), [0], id="its node is gone: one, forced"),
        pytest.param(
            failed(pod(labels={names.ADMISSION: names.DISABLED}), at=OLD), [], id="it opted out"
        ),
        pytest.param(
            failed(pod(annotations={names.ON_REJECTION: "report"}), at=OLD), [], id="report only"
        ),
        pytest.param(
            failed(pod(annotations={names.ON_REJECTION: "hold"}), at=OLD), [None], id="hold"
        ),
    ],
)
def test_case_42_a_pod_is_asked_to_go_once(desk: Desk, obj: Object, grace: list[object]) -> None:
    for _ in range(3):  # and nothing is seen of it meanwhile
        desk.clean(obj)
    assert desk.sent() == [("web-6d-a", "uid-web-6d-a", g) for g in grace]


def test_finalizers_of_others_are_reported_once(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        desk.clean(terminating(600, finalizers=["example.io/hold"]))
    assert [record.message for record in caplog.records] == [
        "shop/web-6d-a was deleted, but stays for finalizers of others: example.io/hold"
    ]


def test_what_a_namespace_wants_reported_is_left_unless_the_pod_says_otherwise(desk: Desk) -> None:
    mine = failed(pod("mine", annotations={names.ON_REJECTION: "exclude"}), at=OLD)
    assert desk.clean(failed(pod(), at=OLD), mine, **{"on-rejection": "report"}) == Cleaned(1)
    assert [name for name, *_ in desk.sent()] == ["mine"]


def test_what_a_verdict_needs_stays(desk: Desk) -> None:
    assert desk.clean(*many(5), needed=True) == Cleaned()
    assert not desk.sent()


def test_of_those_that_asked_for_odd_cpus_the_newest_are_kept(
    server: ScriptedServer, writer: Writer
) -> None:
    desk = Desk(server, writer, Policy())
    pods = [failed(pod(f"p{n}"), why=ODD, at=ago(100 - n)) for n in range(5)]
    assert desk.clean(*pods, needed=True) == Cleaned(2)
    assert [name for name, *_ in desk.sent()] == ["p0", "p1"]


@pytest.mark.parametrize(
    ("pods", "want"),
    [
        pytest.param(many(AT_A_TIME), Cleaned(AT_A_TIME), id="few"),
        pytest.param(many(100), Cleaned(AT_A_TIME, PAUSE_S), id="many: others get their turn"),
        pytest.param(
            many(LEFT_IN_A_LOOP, ago(4)), Cleaned(0, 6.0), id="a loop may leave some about"
        ),
        pytest.param(
            many(100, ago(4)),
            Cleaned(AT_A_TIME, PAUSE_IN_A_LOOP_S),
            id="a loop that goes on is cleaned up behind slowly: case 31",
        ),
        pytest.param(
            many(100, ago(4), ODD), Cleaned(AT_A_TIME, PAUSE_IN_A_LOOP_S), id="a loop of odd CPUs"
        ),
    ],
)
def test_how_fast(desk: Desk, pods: list[Object], want: Cleaned) -> None:
    assert desk.clean(*pods) == want


def test_a_server_that_fails_is_asked_no_more(desk: Desk) -> None:
    desk.server.script(path("p0"), refusal(429, Retry_After="7"))
    assert desk.clean(*many(5)) == Cleaned(0, 7.0)
    assert len(desk.sent()) == 1


def test_what_is_refused_holds_up_nothing_and_is_told(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.server.script(path("p0"), refusal(403))
    desk.server.script(path("p1"), refusal(404))
    assert desk.clean(*many(4)) == Cleaned(2)
    assert [r.message.partition(":")[0] for r in caplog.records] == ["shop/p0 is not deleted"]
