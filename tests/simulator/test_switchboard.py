"""The fault switchboard on the wire: plain clients meet faults, our reflector gets over them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import urllib3
from simulator_support import MAPS, PATIENCE_S, Wire, config_map
from wire.support import FakeClock, Recorder, client_of

from evencore.domain.views import PodView
from evencore.kube.reflector import Reflector
from evencore.kube.resource import Resource
from simulator.admission.chain import User
from simulator.api.bodies import MERGE_PATCH
from simulator.clock import Clock
from simulator.faults import Fault, Switch
from simulator.resources import PODS
from simulator.server import ApiServer, Options

if TYPE_CHECKING:
    from collections.abc import Iterator

WATCH = f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dc"
EVERY_POD = "/api/v1/pods"


def on(wire: Wire, action: Any, **more: Any) -> Switch:  # noqa: ANN401  as a fault takes them
    server, fault = wire.server, Fault(action=action, **more)
    return server.call(lambda: server.faults.on(fault))


ERRORS = {
    500: ("InternalError", None),
    503: ("ServiceUnavailable", None),
    504: ("Timeout", None),
    429: ("TooManyRequests", "1"),
}


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_is_a_status_for_some_times_and_some_paths(api: Wire, code: Any) -> None:  # noqa: ANN401  an allowed code
    reason, retry_after = ERRORS[code]
    on(api, "error", code=code, times=2, path="*/configmaps", verbs=["create"])
    headers = api.headers("POST", MAPS, config_map())
    assert headers.get("Retry-After") == retry_after
    status, body = api.ask("POST", MAPS, config_map())
    assert (status, body["kind"], body["reason"]) == (code, "Status", reason)
    assert api.ask("GET", MAPS)[0] == 200
    assert api.ask("POST", MAPS, config_map())[0] == 201, "none of the two was carried out"


def test_how_long_to_wait_can_be_said(api: Wire) -> None:
    on(api, "error", code=503, retry_after_seconds=7)
    headers = api.headers("POST", MAPS, config_map())
    assert headers["Retry-After"] == "7"


def test_a_dropped_request_is_not_done_and_a_lost_one_is(api: Wire) -> None:
    for action, there in (("drop", 404), ("lose", 200)):
        on(api, action, times=1)
        with pytest.raises(urllib3.exceptions.ProtocolError):
            api.ask("POST", MAPS, config_map())
        assert api.ask("GET", f"{MAPS}/c")[0] == there, action


def test_a_conflict_is_told_to_who_changes(api: Wire) -> None:
    api.post(MAPS, config_map())
    switch = on(api, "conflict", times=1)
    assert api.get(f"{MAPS}/c")["metadata"]["name"] == "c"
    status, body = api.patch(f"{MAPS}/c", {"data": {"a": "1"}}, MERGE_PATCH)
    assert (status, body["reason"]) == (409, "Conflict")
    assert body["message"].startswith('Operation cannot be fulfilled on configmaps "c": the object')
    assert switch.hits == 1
    assert api.patch(f"{MAPS}/c", {"data": {"a": "1"}}, MERGE_PATCH)[0] == 200


def test_a_delay_and_an_end_are_of_the_clusters_time() -> None:
    clock = Clock.virtual()
    with ApiServer(Options(clock=clock, secure=False)) as server, Wire(server) as api:
        on(api, "error", code=500, for_seconds=60)
        assert api.ask("GET", MAPS)[0] == 500
        server.call(lambda: clock.advance(60))
        assert api.ask("GET", MAPS)[0] == 200
        switch = on(api, "delay", after_seconds=30, times=1)
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(api.ask("GET", MAPS)[0]))
        asking.start()
        while not switch.hits:  # passes when the request has come: its thread is on the way
            server.call(lambda: None)
        assert answers == []
        server.call(lambda: clock.advance(30))
        asking.join(PATIENCE_S)
        assert answers == [200]


def test_a_fault_is_for_some_clients_only() -> None:
    tokens = {"a": User("ann"), "b": User("bob")}
    with ApiServer(Options(secure=False, tokens=tokens)) as server, Wire(server) as api:
        on(api, "error", code=503, client="ann")
        on(api, "error", code=500, client="kubectl/*")
        assert api.ask("GET", MAPS, Authorization="Bearer a")[0] == 503
        assert api.ask("GET", MAPS, Authorization="Bearer b")[0] == 200
        assert api.ask("GET", MAPS, Authorization="Bearer b", User_Agent="kubectl/v1")[0] == 500
        server.call(server.faults.all_off)
        assert api.ask("GET", MAPS, Authorization="Bearer a")[0] == 200


def test_an_open_watch_is_torn_off_and_a_new_one_after_its_time() -> None:
    clock = Clock.virtual()
    with ApiServer(Options(clock=clock, secure=False)) as server, Wire(server) as api:
        api.post(MAPS, config_map())
        with api.watch(WATCH) as events:
            next(events)
            assert on(api, "disconnect", times=1).hits == 1
            with pytest.raises(urllib3.exceptions.ProtocolError):
                next(events)
        on(api, "disconnect", after_seconds=10)
        with api.watch(WATCH) as events:
            next(events)
            server.call(lambda: clock.advance(9))
            api.patch(f"{MAPS}/c", {"data": {"a": "1"}}, MERGE_PATCH)
            assert next(events)["type"] == "MODIFIED"
            server.call(lambda: clock.advance(1))
            with pytest.raises(urllib3.exceptions.ProtocolError):
                next(events)


def test_410_is_an_answer_to_lists_and_an_event_in_watches(api: Wire) -> None:
    api.post(MAPS, config_map())
    with api.watch(WATCH) as events:
        next(events)
        on(api, "expire", times=3)
        (open_one,) = events
    with api.watch(WATCH) as events:
        (new_one,) = events
    for event in (open_one, new_one):
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    status, body = api.ask("GET", MAPS)
    assert (status, body["reason"]) == (410, "Expired")
    assert api.ask("GET", MAPS)[0] == 200


@contextmanager
def following(api: Wire) -> Iterator[tuple[Reflector[PodView], Recorder]]:
    """Run our reflector on all pods; its waits take no time."""
    client, recorder = client_of(api.server), Following()  # type: ignore[arg-type]  # has a url, too
    reflector = Reflector(client, Resource(EVERY_POD), PodView, recorder, clock=FakeClock())
    stop = threading.Event()
    thread = threading.Thread(target=reflector.run, args=(stop,))
    thread.start()
    try:
        yield reflector, recorder
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        client.close()


class Following(Recorder):
    """Keeps which pods there are."""

    def upsert(self, key: str, obj: Any) -> None:  # noqa: ANN401  any view
        self._note("upsert", key, becomes={**self.objects, key: obj})


FAULTS = {
    "a watch that is torn off": [Fault(action="disconnect", times=3)],
    "410": [Fault(action="expire", times=3)],
    "no connection": [Fault(action="disconnect", times=1), Fault(action="drop", times=5)],
    "errors": [
        Fault(action="disconnect", times=1),
        Fault(action="error", code=500, times=2),
        Fault(action="error", code=503, times=2),
        Fault(action="error", code=429, retry_after_seconds=30, times=2),
    ],
    "half of everything": [
        Fault(action="expire", times=2),
        Fault(action="lose", probability=0.5, times=10),
    ],
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_our_reflector_gets_over_it_and_misses_nothing(api: Wire, faults: list[Fault]) -> None:
    def make(*names: str) -> None:
        # In the server's thread: what is tested are faults on the way to the reflector.
        for name in names:
            pod = {"metadata": {"name": name}, "spec": {"containers": []}}
            api.server.call(lambda pod=pod: api.server.store.create(PODS, "default", pod))

    def drop(name: str) -> None:
        api.server.call(lambda: api.server.store.delete(PODS, "default", name))

    make("a", "b")
    with following(api) as (reflector, recorder):
        recorder.wait_until(lambda it: {"default/a", "default/b"} <= set(it.objects))
        # The reflector is within its watch once it has seen an object that no list had.
        make("seen")
        recorder.wait_until(lambda it: "default/seen" in it.objects)
        server = api.server

        def storm() -> list[Switch]:
            switches = [server.faults.on(one) for one in faults]
            server.store.delete(PODS, "default", "a")
            return switches

        switches = server.call(storm)
        make("c", "d")
        drop("d")
        make("e")
        want = {"default/b", "default/seen", "default/c", "default/e"}
        recorder.wait_until(lambda it: set(it.objects) == want)
        server.call(server.faults.all_off)
        make("last")
        recorder.wait_until(lambda it: set(it.objects) == want | {"default/last"})
        assert sum(one.hits for one in switches) >= 1
        assert reflector.stats.failures >= 1
