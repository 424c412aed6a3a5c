"""Resources that a server need not know (a CRD): quiet while absent, mirrored when there."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from wire.scripted import ScriptedServer, a_list, refusal, thing
from wire.support import PATH, FakeClock, Thing, client_of, reflecting

from evencore.kube.reflector import ABSENT_S
from evencore.kube.resource import Resource
from evencore.kube.source import ClusterSource, Kind

if TYPE_CHECKING:
    import pytest

OPTIONAL = Resource(PATH, optional=True)
LISTED = ("replace", ["a"])


def test_it_is_looked_for_every_few_minutes_without_a_word(
    server: ScriptedServer, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server.script(PATH, refusal(404), refusal(404), a_list([thing("a")]))
    with reflecting(server, clock, resource=OPTIONAL) as (reflector, recorder):
        recorder.wait_until(lambda it: LISTED in it.calls)
        assert reflector.stats.failures == 0
    assert clock.waits[:2] == [ABSENT_S, ABSENT_S]
    assert not caplog.records


def test_its_objects_are_gone_when_it_is(server: ScriptedServer, clock: FakeClock) -> None:
    server.script(PATH, a_list([thing("a")]), refusal(404), a_list([thing("b")]))
    with reflecting(server, clock, resource=OPTIONAL) as (_, recorder):
        recorder.wait_until(lambda it: len(it.calls) >= 3)
        assert recorder.calls[:3] == [LISTED, ("replace", []), ("replace", ["b"])]


def test_another_resource_that_is_not_there_is_tried_as_after_any_failure(
    server: ScriptedServer, clock: FakeClock
) -> None:
    server.script(PATH, refusal(404), a_list([thing("a")]))
    with reflecting(server, clock) as (reflector, recorder):
        recorder.wait_until(lambda it: LISTED in it.calls)
        assert reflector.stats.failures == 1
    assert clock.waits[0] < ABSENT_S


def test_nobody_waits_for_it(server: ScriptedServer, clock: FakeClock) -> None:
    server.otherwise(PATH, refusal(404))
    server.otherwise("/api/v1/nodes", a_list([thing("n1")]))
    kinds = {"crd": Kind(OPTIONAL, Thing), "nodes": Kind(Resource("/api/v1/nodes"), Thing)}
    client = client_of(server)
    source = ClusterSource(client, kinds, clock=clock)
    source.start()
    assert source.wait_synced(30.0) == []
    assert source.object("nodes", "n1") is not None
    assert source.object("crd", "n1") is None
    source.stop()
    client.close()
