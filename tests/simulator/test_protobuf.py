"""Objects as protobuf: what is read, and that nothing unknown is dropped in silence."""

from __future__ import annotations

import pytest

from simulator.api import protobuf
from simulator.errors import ApiError


def field(number: int, value: bytes | str | int) -> bytes:
    """Write one field; enough of protobuf for numbers and lengths below 128."""
    if isinstance(value, int):
        return bytes((number << 3, value))
    raw = value.encode() if isinstance(value, str) else value
    return bytes((number << 3 | 2, len(raw))) + raw


def enveloped(version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, version) + field(2, kind)) + field(2, raw)


def entry(key: str, value: bytes | str) -> bytes:
    return field(1, key) + field(2, value)


NAMED = field(1, field(1, "x") + field(2, "") + field(8, b""))

OBJECTS = {
    "maps of texts": (
        ("ConfigMap", NAMED + field(2, entry("a", "1")) + field(2, entry("b", ""))),
        {"metadata": {"name": "x"}, "data": {"a": "1", "b": ""}},
    ),
    "bytes become base64": (
        ("Secret", field(2, entry("a", b"\xff")) + field(3, "Opaque")),
        {"data": {"a": "/w=="}, "type": "Opaque"},
    ),
    "a zero that means something stays": (
        ("Deployment", field(2, field(1, 0) + field(5, 0))),
        {"spec": {"replicas": 0}},
    ),
    "quantities and lists": (
        ("ResourceQuota", field(2, field(1, entry("cpu", field(1, "2"))) + field(2, "A"))),
        {"spec": {"hard": {"cpu": "2"}, "scopes": ["A"]}},
    ),
    "numbers or texts": (
        (
            "Service",
            field(
                2,
                field(1, field(3, 80) + field(4, field(1, 0) + field(2, 81) + field(3, "")))
                + field(1, field(3, 82) + field(4, field(1, 1) + field(2, 0) + field(3, "web"))),
            ),
        ),
        {
            "spec": {"ports": [{"port": 80, "targetPort": 81}, {"port": 82, "targetPort": "web"}]},
        },
    ),
    "what a client of Go asks about somebody else": (
        (
            "SubjectAccessReview",
            field(
                2, field(1, field(2, "get") + field(5, "pods")) + field(3, "ann") + field(4, "a")
            ),
        ),
        {
            "spec": {
                "resourceAttributes": {"verb": "get", "resource": "pods"},
                "user": "ann",
                "groups": ["a"],
            }
        },
    ),
    "a negative number": (
        ("PriorityClass", b"\x10" + b"\xfb" + b"\xff" * 8 + b"\x01"),
        {"value": -5},
    ),
}


@pytest.mark.parametrize(("given", "want"), OBJECTS.values(), ids=OBJECTS)
def test_objects(given: tuple[str, bytes], want: dict[str, object]) -> None:
    kind, raw = given
    assert protobuf.read(enveloped("v1", kind, raw)) == {"apiVersion": "v1", "kind": kind, **want}


REFUSALS = {
    "another kind": (enveloped("v1", "Endpoints", b""), 415, "v1 Endpoints"),
    "another field": (enveloped("v1", "ConfigMap", field(9, "x")), 415, "field 9 of ConfigMap"),
    "no envelope": (b"{}", 400, "no Kubernetes protobuf"),
    "cut short": (enveloped("v1", "ConfigMap", NAMED)[:-2], 400, "broken protobuf"),
    "a number for a text": (enveloped("v1", "Secret", field(3, 1)), 400, "broken protobuf"),
}


@pytest.mark.parametrize(("body", "code", "text"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_read_is_refused(body: bytes, code: int, text: str) -> None:
    with pytest.raises(ApiError, match=text) as caught:
        protobuf.read(body)
    assert caught.value.code == code
