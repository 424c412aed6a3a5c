"""Pages and events become views, whatever is in them."""

from __future__ import annotations

import json

import msgspec
import pytest

from evencore.domain.views import Metadata, NodeView
from evencore.kube.decoding import Decoder
from evencore.kube.errors import Call, Unreadable

CALL = Call("GET", "/api/v1/nodes", "https://api.example")


class Named(msgspec.Struct, frozen=True):
    """A view that would do without a metadata, as those of nodes do."""

    metadata: Metadata | None = None


def page(*items: object) -> bytes:
    return json.dumps({"metadata": {"resourceVersion": "7"}, "items": items}).encode()


GOOD = {"metadata": {"name": "n1", "labels": {"a": "b"}}}


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({}, id="no metadata"),
        pytest.param({"metadata": None}, id="null for a metadata"),
        pytest.param({"metadata": {"name": 5}}, id="a number for a name"),
        pytest.param({"metadata": {"name": "n2", "labels": {"a": 5}}}, id="a number for a label"),
        pytest.param(None, id="null"),
    ],
)
def test_one_odd_object_costs_a_page_nothing_but_itself(odd: object) -> None:
    decoder: Decoder[Named] = Decoder(Named, CALL.path)

    found = decoder.page(page(odd, GOOD), CALL)

    assert {key: view.metadata and view.metadata.labels for key, view in found.objects.items()} == {
        "n1": {"a": "b"}
    }
    assert (found.version, decoder.skipped) == ("7", 1)


def test_an_object_that_is_not_wanted_as_it_is_costs_nothing_but_itself() -> None:
    def keep(view: NodeView) -> str:
        assert view.metadata is not None
        if view.metadata.name == "bad":
            raise ValueError("bad")
        return view.metadata.name or ""

    decoder = Decoder(NodeView, CALL.path, keep)

    found = decoder.page(page(GOOD, {"metadata": {"name": "bad"}}), CALL)

    assert (found.objects, decoder.skipped) == ({"n1": "n1"}, 1)


def test_no_items_are_an_empty_page() -> None:
    found = Decoder(NodeView, CALL.path).page(b'{"metadata":{},"items":null}', CALL)

    assert found.objects == {}


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"metadata":{},"items":"\xff"}'])
def test_what_is_no_list_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(Unreadable, match="that is no list"):
        Decoder(NodeView, CALL.path).page(body, CALL)
