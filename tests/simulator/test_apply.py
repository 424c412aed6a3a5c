"""Server-side apply: merging, owners, conflicts; by its rules, on the wire, and with kubectl."""

from __future__ import annotations

from typing import Any

import pytest
from simulator_support import MAPS, Wire, config_map

from simulator.api.bodies import APPLY, MERGE_PATCH
from simulator.errors import ApiError
from simulator.patches import fields
from simulator.patches.apply import apply

NOW = "2027-01-15T08:00:00Z"


def pod(**images: str) -> dict[str, Any]:
    containers = [{"name": name, "image": image} for name, image in images.items()]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": containers},
    }


def applied(
    live: dict[str, Any], config: dict[str, Any], manager: str, **how: bool
) -> dict[str, Any]:
    return apply(live, config, manager, NOW, force=how.get("force", False))


def images(obj: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one.get("image", "") for one in obj["spec"]["containers"]}


def test_what_a_manager_does_not_name_any_more_goes() -> None:
    live = applied({"metadata": {"name": "p"}}, pod(a="1", b="1"), "me")
    live["spec"]["nodeName"] = "written by somebody else"
    live = applied(live, pod(a="2"), "me")
    assert images(live) == {"a": "2"}
    assert live["spec"]["nodeName"] == "written by somebody else"


def test_what_another_manager_has_too_stays() -> None:
    live = applied({"metadata": {"name": "p"}}, pod(a="1", b="1"), "me")
    live = applied(live, pod(b="1"), "you")
    live = applied(live, pod(a="1"), "me")
    assert images(live) == {"a": "1", "b": "1"}
    live = applied(live, pod(), "you")
    assert images(live) == {"a": "1"}


def test_two_who_want_different_values_are_in_conflict_unless_one_forces() -> None:
    live = applied({"metadata": {"name": "p"}}, pod(a="1"), "me")
    with pytest.raises(ApiError) as caught:
        applied(live, pod(a="2"), "you")
    assert caught.value.code == 409
    assert str(caught.value) == (
        'Apply failed with 1 conflict: conflict with "me": .spec.containers[name="a"].image'
    )
    forced = applied(live, pod(a="2"), "you", force=True)
    assert images(forced) == {"a": "2"}
    assert images(applied(forced, pod(a="2"), "me")) == {"a": "2"}
    owners = {one["manager"]: one["fieldsV1"] for one in forced["metadata"]["managedFields"]}
    assert "f:image" not in str(owners["me"])


def test_the_set_of_fields_is_written_as_the_api_server_does() -> None:
    found = fields.paths({**pod(a="1"), "metadata": {"name": "p", "labels": {"x": "y"}}})
    tree = fields.to_v1(found)
    item = {".": {}, "f:name": {}, "f:image": {}}
    assert tree == {
        "f:metadata": {"f:labels": {"f:x": {}}},
        "f:spec": {"f:containers": {'k:{"name":"a"}': item}},
    }
    assert fields.from_v1(tree) == found


def test_on_the_wire_an_object_is_made_and_nothing_changes_the_second_time(api: Wire) -> None:
    path = f"{MAPS}/c?fieldManager=me"
    status, made = api.patch(path, config_map(x="1", y="2"), APPLY)
    assert (status, made["metadata"]["managedFields"][0]["manager"]) == (201, "me")
    status, same = api.patch(path, config_map(x="1", y="2"), APPLY)
    assert (status, same["metadata"]["resourceVersion"]) == (
        200,
        made["metadata"]["resourceVersion"],
    )
    api.patch(f"{MAPS}/c", {"data": {"z": "3"}}, MERGE_PATCH)
    assert api.patch(path, config_map(x="1"), APPLY)[1]["data"] == {"x": "1", "z": "3"}
    status, refused = api.patch(f"{MAPS}/c?fieldManager=you", config_map(x="2"), APPLY)
    assert (status, refused["details"]["causes"][0]["field"]) == (409, ".data.x")
    assert api.patch(f"{MAPS}/c", config_map(x="2"), APPLY)[0] == 400
