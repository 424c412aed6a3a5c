"""A view decoded with its object's version is, taken apart, what is decoded without it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from controller.views import FullNode, WatchedPod
from evencore.domain.event_views import EventView
from evencore.domain.views import (
    FailedPodView,
    LimitRangeView,
    NamespaceView,
    NodeView,
    TopologyView,
)
from evencore.kube.versioned import Versioned

VIEWS: list[type[Struct]] = [
    EventView,
    FailedPodView,
    FullNode,
    LimitRangeView,
    NamespaceView,
    NodeView,
    TopologyView,
    WatchedPod,
]
METADATA = {
    "name": "a",
    "namespace": "b",
    "uid": "c",
    "labels": {"evencore.io/steering": "held", "zone": "a"},
    "annotations": {"evencore.io/decision": "held"},
    "resourceVersion": "7",
}


def both(view: type[Struct], metadata: object) -> tuple[object, object, str]:
    body = msgspec.json.encode({"metadata": metadata, "spec": {}, "status": {}})
    versioned = Versioned(view)
    found, version = versioned.apart(msgspec.json.decode(body, type=versioned.type))
    return found, msgspec.json.decode(body, type=view), version


@pytest.mark.parametrize("view", VIEWS)
def test_all_views_that_are_watched_come_out_as_without_a_version(view: type[Struct]) -> None:
    found, plain, version = both(view, METADATA)
    assert found == plain
    assert type(found) is type(plain) is view
    assert version == "7"


@pytest.mark.parametrize("view", VIEWS)
def test_two_versions_of_the_same_object_are_equal(view: type[Struct]) -> None:
    assert both(view, METADATA)[0] == both(view, METADATA | {"resourceVersion": "8"})[0]


def test_an_object_without_a_version_has_the_empty_one() -> None:
    assert both(NodeView, {"name": "a"})[2] == ""


@pytest.mark.parametrize("metadata", [b"{}", b'{"metadata":null}'])
def test_an_object_without_metadata_is_told(metadata: bytes) -> None:
    versioned = Versioned(NodeView)
    with pytest.raises(ValueError, match="no metadata"):
        versioned.apart(msgspec.json.decode(metadata, type=versioned.type))


@given(st.dictionaries(st.sampled_from(["name", "namespace", "uid", "generateName"]), st.text()))
def test_whatever_the_metadata_says_is_kept(metadata: dict[str, str]) -> None:
    found, plain, _ = both(NodeView, metadata)
    assert found == plain
