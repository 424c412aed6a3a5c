"""Watches on the wire."""

from __future__ import annotations

from simulator_support import MAPS, PODS, Wire, config_map, pod

from simulator.api.bodies import MERGE_PATCH
from simulator.server import ApiServer, Options


def test_a_watch_goes_on_from_the_version_of_a_list(api: Wire) -> None:
    api.post(MAPS, config_map("before"))
    version = api.get(MAPS)["metadata"]["resourceVersion"]
    api.post(MAPS, config_map("c"))
    with api.watch(f"{MAPS}?watch=true&resourceVersion={version}") as events:
        api.patch(f"{MAPS}/c", {"data": {"x": "1"}}, MERGE_PATCH)
        api.ask("DELETE", f"{MAPS}/c")
        seen = [next(events) for _ in range(3)]
    assert [event["type"] for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[0]["object"]["kind"] == "ConfigMap"
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
    assert versions == sorted(set(versions))
    assert versions[0] > int(version)


def test_without_a_version_all_that_is_there_comes_first(api: Wire) -> None:
    api.post(PODS, pod("a"))
    with api.watch(f"{PODS}?watch=1") as events:
        assert next(events)["object"]["metadata"]["name"] == "a"
        api.post(PODS, pod("b"))
        assert next(events)["object"]["metadata"]["name"] == "b"


def test_what_enters_and_leaves_a_selector_is_reported_as_added_and_deleted(api: Wire) -> None:
    api.post(PODS, pod())
    version = api.get(PODS)["metadata"]["resourceVersion"]
    path = "/api/v1/pods?watch=1&fieldSelector=status.phase%3DFailed"
    with api.watch(f"{path}&resourceVersion={version}") as events:
        for phase in ("Running", "Failed", "Unknown"):
            api.patch(f"{PODS}/p/status", {"status": {"phase": phase}}, MERGE_PATCH)
        first, second = next(events), next(events)
    assert (first["type"], first["object"]["status"]["phase"]) == ("ADDED", "Failed")
    assert (second["type"], second["object"]["status"]["phase"]) == ("DELETED", "Failed")
    now = api.get(f"{PODS}/p")["metadata"]["resourceVersion"]
    assert second["object"]["metadata"]["resourceVersion"] == now


def test_a_watch_ends_when_it_was_to_end_with_a_bookmark_of_the_newest_version(api: Wire) -> None:
    version = api.get(PODS)["metadata"]["resourceVersion"]
    path = f"{PODS}?watch=1&resourceVersion={version}&timeoutSeconds=1&allowWatchBookmarks=true"
    with api.watch(path) as events:
        newest = api.post(MAPS, config_map())["metadata"]["resourceVersion"]
        seen = list(events)
    assert [event["type"] for event in seen] == ["BOOKMARK"]
    assert seen[0]["object"]["kind"] == "Pod"
    assert seen[0]["object"]["metadata"]["resourceVersion"] == newest


def test_a_streaming_list_says_where_its_beginning_ends(api: Wire) -> None:
    api.post(PODS, pod())
    path = f"{PODS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
    with api.watch(f"{path}&resourceVersionMatch=NotOlderThan") as events:
        first, mark = next(events), next(events)
    assert first["type"] == "ADDED"
    annotations = mark["object"]["metadata"]["annotations"]
    assert (mark["type"], annotations) == ("BOOKMARK", {"k8s.io/initial-events-end": "true"})


def test_a_forgotten_version_is_a_410_event() -> None:
    with ApiServer(Options(secure=False, history=2)) as server, Wire(server) as api:
        version = api.get(MAPS)["metadata"]["resourceVersion"]
        for name in "abc":
            api.post(MAPS, config_map(name))
        with api.watch(f"{MAPS}?watch=1&resourceVersion={version}") as events:
            (error,) = events
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")


def test_a_hundred_watches_see_every_change_and_leave_when_their_client_does(api: Wire) -> None:
    version = api.get(PODS)["metadata"]["resourceVersion"]
    opened = [api.watch(f"{PODS}?watch=1&resourceVersion={version}") for _ in range(100)]
    streams = [one.__enter__() for one in opened]
    api.post(PODS, pod())
    assert {next(stream)["object"]["metadata"]["name"] for stream in streams} == {"p"}
    for one in opened:
        one.__exit__(None, None, None)
    assert api.post(PODS, pod("q"))["metadata"]["name"] == "q"
