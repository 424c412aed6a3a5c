"""The Events that we write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from evencore.kube.events import About, Event

FIRST = datetime(2026, 11, 30, 10, 42, 7, 999_999, tzinfo=UTC)
POD = About("v1", "Pod", "team", "web-1", "uid-1")


def _event(**more: object) -> Event:
    given: dict[str, object] = {"about": POD, "message": "as it was", **more}
    return Event(name="web-1.17", reason="PodHeld", first=FIRST, last=FIRST, **given)  # type: ignore[arg-type]  # a table's row


def test_it_has_the_shape_of_a_kubelets_event() -> None:
    assert _event(warning=True).body("evencore-controller") == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web-1.17", "namespace": "team"},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "team",
            "name": "web-1",
            "uid": "uid-1",
        },
        "type": "Warning",
        "reason": "PodHeld",
        "message": "as it was",
        "source": {"component": "evencore-controller"},
        "reportingComponent": "evencore-controller",
        "reportingInstance": "",
        "firstTimestamp": "2026-11-30T10:42:07Z",
        "lastTimestamp": "2026-11-30T10:42:07Z",
        "count": 1,
    }


def test_an_event_on_a_node_lives_in_the_default_namespace_and_is_normal() -> None:
    body = _event(about=About("v1", "Node", "", "n1", "uid-n1")).body("c")
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["involvedObject"]
    assert body["type"] == "Normal"


def test_again_is_told_in_absolute_numbers() -> None:
    east = timezone(timedelta(hours=2))
    again = Event("n", POD, "r", "m", FIRST, datetime(2026, 11, 30, 13, 0, tzinfo=east), count=5)
    assert again.counted() == {
        "count": 5,
        "lastTimestamp": "2026-11-30T11:00:00Z",
        "message": "m",
    }


def test_a_message_is_one_line_and_no_longer_than_the_api_allows() -> None:
    message = _event(message="a\nb " + "x" * 5000).counted()["message"]
    assert message.startswith("a b x")
    assert len(message) == 1024
