"""evencore's own writer and elector against the pocket cluster, over TLS."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pytest
import yaml
from simulator_support import PATIENCE_S, PODS, pod
from wire.support import FakeClock

from evencore.kube.client import Client, connect
from evencore.kube.election import Timing
from evencore.kube.events import About, Event
from evencore.kube.lease import Elector, LeaseName
from evencore.kube.writer import NAME, Conflict, Done, Gone, Later, Ref, Refused, Writer
from simulator import resources
from simulator.faults import Fault, Switch
from simulator.server import ApiServer, Options
from simulator.store.table import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator.store.table import Change

NOW = datetime(2026, 11, 30, 10, 42, tzinfo=UTC)
LEASE = LeaseName("default", "evencore-controller")
GATED = {"schedulingGates": [{"name": "evencore.io/hold"}, {"name": "other.example/wait"}]}


class Kube(NamedTuple):
    """A cluster, our client to it, and a writer."""

    server: ApiServer
    client: Client
    writer: Writer

    def make(self, path: str, obj: dict[str, Any]) -> Ref:
        return _ref(yaml.safe_load(self.client.write("POST", path, obj)))

    def read(self, path: str) -> dict[str, Any]:
        reply = self.client.get(path)
        found: dict[str, Any] = yaml.safe_load(reply.read())
        reply.close()
        return found

    def fault(self, action: Any, **more: Any) -> Switch:  # noqa: ANN401  as a fault takes them
        return self.server.call(lambda: self.server.faults.on(Fault(action=action, **more)))


def _ref(obj: dict[str, Any]) -> Ref:
    metadata = obj["metadata"]
    names = metadata.get("namespace", ""), metadata["name"]
    return Ref(*names, metadata["uid"], metadata["resourceVersion"])


@contextmanager
def _kube(tmp_path: Path, seed: int = 1) -> Iterator[Kube]:
    with ApiServer(Options(seed=seed)) as server:
        path = tmp_path / "config"
        path.write_text(server.kubeconfig())
        client = connect(str(path), agent=NAME)
        yield Kube(server, client, Writer(client, threading.Event(), random=lambda: 0.0))
        client.close()


@pytest.fixture
def kube(tmp_path: Path) -> Iterator[Kube]:
    with _kube(tmp_path) as made:
        yield made


def test_a_pod_is_deleted_by_uid_and_never_its_successor(kube: Kube) -> None:
    old = kube.make(PODS, pod())
    assert isinstance(kube.writer.delete_pod(old._replace(version="")), Done)
    assert isinstance(kube.writer.delete_pod(old), Gone)
    new = kube.make(PODS, pod())
    assert isinstance(kube.writer.delete_pod(old), Conflict)
    assert isinstance(kube.writer.delete_pod(old._replace(version="")), Conflict)
    assert kube.read(f"{PODS}/p")["metadata"]["uid"] == new.uid


def test_a_pod_that_changed_since_it_was_read_is_not_deleted_by_version(kube: Kube) -> None:
    old = kube.make(PODS, pod())
    label = {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}
    assert isinstance(kube.writer.patch_pod(old, [label]), Done)
    assert isinstance(kube.writer.delete_pod(old), Conflict)


def test_one_gate_is_removed_and_everything_else_stays(kube: Kube) -> None:
    held = kube.make(PODS, {**pod(**GATED), "unknownToUs": 1})
    remove = [
        {"op": "test", "path": "/spec/schedulingGates/0/name", "value": "evencore.io/hold"},
        {"op": "remove", "path": "/spec/schedulingGates/0"},
    ]
    before = kube.read(f"{PODS}/p")
    done = kube.writer.patch_pod(held, remove)
    assert isinstance(done, Done)
    after = kube.read(f"{PODS}/p")
    assert (done.uid, done.version) == (held.uid, after["metadata"]["resourceVersion"])
    assert after["spec"] == {
        **before["spec"],
        "schedulingGates": [{"name": "other.example/wait"}],
    }
    # The same once more: its test does not hold any longer, with a version or without.
    assert isinstance(kube.writer.patch_pod(held, remove), Conflict)
    assert isinstance(kube.writer.patch_pod(held._replace(version=""), remove), Conflict)
    other = held._replace(uid="another", version="")
    assert isinstance(kube.writer.patch_pod(other, remove[1:]), Conflict)


def test_what_the_api_forbids_is_refused_with_its_reason(kube: Kube) -> None:
    made = kube.make(PODS, pod())
    outcome = kube.writer.patch_pod(
        made,
        [{"op": "add", "path": "/spec/schedulingGates", "value": [{"name": "late.example/g"}]}],
    )
    assert isinstance(outcome, Refused)
    assert "schedulingGates" in outcome.why


def test_annotations_and_labels_of_others_stay(kube: Kube) -> None:
    node = kube.make("/api/v1/nodes", {"metadata": {"name": "n1", "labels": {"theirs": "x"}}})
    ours = {"evencore.io/node": "n1"}, {"evencore.io/room-since": "2026-11-30T10:42:00Z"}
    assert isinstance(kube.writer.patch_node(node, *ours), Done)
    assert isinstance(kube.writer.patch_node(node._replace(uid="old", version="")), Conflict)
    metadata = kube.read("/api/v1/nodes/n1")["metadata"]
    assert metadata["labels"] == {"theirs": "x", **ours[0]}
    assert metadata["annotations"].items() >= ours[1].items()
    away = {"evencore.io/node": None}, {"evencore.io/room-since": None}
    assert isinstance(kube.writer.patch_node(node._replace(version=""), *away), Done)
    left = kube.read("/api/v1/nodes/n1")["metadata"]
    assert left["labels"] == {"theirs": "x"}
    assert "evencore.io/room-since" not in left.get("annotations", {})


def test_an_event_is_written_once_and_counted_up(kube: Kube) -> None:
    made = kube.make(PODS, pod())
    event = Event("p.17", About("v1", "Pod", *made[:3]), "PodHeld", "held", NOW, NOW, warning=True)
    assert isinstance(kube.writer.repeat_event(event), Gone)
    assert isinstance(kube.writer.create_event(event), Done)
    assert isinstance(kube.writer.create_event(event), Conflict)
    later = datetime(2026, 11, 30, 10, 43, tzinfo=UTC)
    again = Event(event.name, event.about, "PodHeld", "still", NOW, later, 2, warning=True)
    assert isinstance(kube.writer.repeat_event(again), Done)
    (found,) = kube.read("/api/v1/namespaces/default/events")["items"]
    assert (found["count"], found["message"], found["type"]) == (2, "still", "Warning")
    assert found["firstTimestamp"] == "2026-11-30T10:42:00Z"
    assert found["lastTimestamp"] == "2026-11-30T10:43:00Z"
    assert found["involvedObject"]["uid"] == made.uid
    newer = kube.read("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    assert newer[0]["reportingController"] == NAME


@pytest.mark.parametrize("action", ["drop", "lose"])
def test_a_write_whose_answer_never_came_can_be_repeated(kube: Kube, action: str) -> None:
    made = kube.make(PODS, pod(**GATED))
    switch = kube.fault(action, client="evencore-controller/*", verbs=["patch"], times=1)
    remove = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
    assert isinstance(kube.writer.patch_pod(made, remove), Later)
    assert switch.hits == 1
    fresh = Writer(kube.client, threading.Event())
    outcome = fresh.patch_pod(made, remove)
    # Lost after it was done: the version shows that; a second gate is not removed by mistake.
    assert isinstance(outcome, Conflict if action == "lose" else Done)
    assert len(kube.read(f"{PODS}/p")["spec"]["schedulingGates"]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_deleted_twice_though_every_other_request_goes_wrong(
    tmp_path: Path, seed: int
) -> None:
    with _kube(tmp_path, seed) as kube:
        old = [kube.make(PODS, pod(f"web-{n}")) for n in range(40)]
        successors = _successors(kube.server)
        for action in ("drop", "lose", "error", "error"):
            code = {"code": 503} if action == "error" else {}
            kube.fault(action, client=f"{NAME}/*", verbs=["delete"], probability=0.15, **code)
        clock = FakeClock()
        writer = Writer(kube.client, threading.Event(), clock=clock)
        kinds: dict[type, int] = {}
        for one in old:
            while isinstance(outcome := writer.delete_pod(one._replace(version="")), Later):
                clock.advance(outcome.seconds)
            kinds[type(outcome)] = kinds.get(type(outcome), 0) + 1
        left = [(_ref(each).name, _ref(each).uid) for each in kube.read(PODS)["items"]]
    assert sum(kinds.values()) == 40
    # Those whose answer was lost have a successor of the same name already.
    assert set(kinds) == {Done, Conflict}
    assert sorted(left) == sorted(successors)
    assert len(successors) == 40


def _successors(server: ApiServer) -> list[tuple[str, str]]:
    """Make another pod of the same name as soon as one is gone; gives names and uids of all."""
    made: list[tuple[str, str]] = []

    def follow(change: Change) -> None:
        if change.type != DELETED:
            return
        namespace, name = change.record.key
        # Not within the feed of changes itself, and before the next request is read.
        asyncio.get_running_loop().call_soon(remake, namespace, name)

    def remake(namespace: str, name: str) -> None:
        record = server.store.create(resources.PODS, namespace, pod(name))
        made.append((name, record.object["metadata"]["uid"]))

    server.call(lambda: server.store.table(resources.PODS).listen(follow))
    return made


class Candidate:
    """An elector in a thread of its own, until `end` or the end of the block."""

    def __init__(self, kube: Kube, identity: str, timing: Timing) -> None:
        self.stop, self.lost = threading.Event(), threading.Event()
        self.elector = Elector(
            kube.client, LEASE, identity, lambda _: self.lost.set(), timing=timing
        )
        self._thread = threading.Thread(target=self.elector.run, args=(self.stop,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self.stop.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


def test_a_leader_that_stops_hands_over_long_before_its_lease_would_have_run_out(
    kube: Kube,
) -> None:
    timing = Timing(3600.0, 10.0, 0.05)  # an hour: nobody would wait for that
    label = [{"op": "add", "path": "/metadata/labels", "value": {"theirs": "x"}}]
    with Candidate(kube, "first", timing) as first, ExitStack() as stack:
        assert first.elector.elected.wait(PATIENCE_S)
        second = stack.enter_context(Candidate(kube, "second", timing))
        # Somebody changes the object just before it is given back.
        kube.client.write("PATCH", LEASE.path, label, content_type="application/json-patch+json")
        assert first.elector.leads()
        assert not second.elector.leads()
        first.end()
        assert second.elector.elected.wait(PATIENCE_S)
        found = kube.read(LEASE.path)
    assert found["spec"]["leaseTransitions"] == 1
    assert found["metadata"]["labels"] == {"theirs": "x"}
    assert kube.read(LEASE.path)["spec"]["holderIdentity"] == ""
    assert not first.lost.is_set()
    assert not second.lost.is_set()


def test_a_leader_that_is_cut_off_has_lost_before_another_one_leads(kube: Kube) -> None:
    timing = Timing(2.0, 0.5, 0.05)
    with Candidate(kube, "first", timing) as first:
        assert first.elector.elected.wait(PATIENCE_S)
        # Only from writing: it sees what is going on and cannot help it.
        kube.fault("error", code=503, verbs=["patch"], path="*/leases/*", for_seconds=1)
        with Candidate(kube, "second", timing) as second:
            assert first.lost.wait(PATIENCE_S)
            assert not first.elector.leads()
            assert second.elector.elected.wait(PATIENCE_S)
            assert kube.read(LEASE.path)["spec"]["leaseTransitions"] == 1
