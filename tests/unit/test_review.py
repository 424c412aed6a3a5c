"""The envelope: constructors of answers, and warnings that the API server does not cut."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from builders import pod
from builders import review as sent

from evencore.domain.views import PodView
from webhook.review import NotAReview, allowed, decode, denied, patched, presentable


def response(answer: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer)["response"]
    return found


def test_allowed_says_no_more_than_that() -> None:
    assert json.loads(allowed("u-1")) == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "u-1", "allowed": True},
    }


def test_patched_brings_patch_and_type_together() -> None:
    operations = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "→"}}]
    found = response(patched("u-1", operations))
    assert found["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(found["patch"])) == operations


def test_denied_carries_what_the_author_reads() -> None:
    found = response(denied("u-1", "evencore: 3 → 2 or 4", ("also",)))
    assert found == {
        "uid": "u-1",
        "allowed": False,
        "status": {"code": 403, "reason": "Forbidden", "message": "evencore: 3 → 2 or 4"},
        "warnings": ["also"],
    }


@pytest.mark.parametrize(
    ("warnings", "want"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["a", "b", "c", "d"], ["a", "b", "c", "d"], id="four"),
        pytest.param(
            list("abcdef"), ["a", "b", "c", "evencore: 3 more warnings, see its log"], id="six"
        ),
        pytest.param(["x" * 119], ["x" * 119], id="119 bytes stay"),
        pytest.param(["x" * 120], ["x" * 116 + "..."], id="120 are cut"),
        pytest.param(["→" * 40], ["→" * 38 + "..."], id="bytes count, not characters"),
        pytest.param(["a\nb\t\x1b[1m\u2028c"], ["a?b??[1m?c"], id="no control characters"),
        pytest.param(["\ud800"], ["?"], id="no half characters"),
    ],
)
def test_warnings_fit_what_the_api_server_shows(warnings: list[str], want: list[str]) -> None:
    assert presentable(tuple(warnings)) == tuple(want)


def test_an_empty_list_of_warnings_is_left_out() -> None:
    assert "warnings" not in response(allowed("u-1", ()))


def test_numbers_keep_their_digits() -> None:
    body = sent(pod().cpu("VALUE")).body.replace(b'"VALUE"', b"9007199254740993.5")
    request, problems = decode(body)
    assert problems == ()
    assert request.object is not None
    assert request.object.spec is not None
    assert request.object.spec.containers is not None
    resources = request.object.spec.containers[0].resources
    assert resources is not None
    assert resources.limits == {"cpu": "9007199254740993.5", "memory": "1Gi"}


def test_an_object_of_the_wrong_shape_comes_with_the_place() -> None:
    request, problems = decode(sent(pod().spec(nodeName=5)).body)
    assert problems == ("object.spec.nodeName is not text",)
    assert isinstance(request.object, PodView)


def test_what_is_no_review_says_what_it_is() -> None:
    with pytest.raises(NotAReview, match="the body is a 'v1 Pod'; this webhook answers"):
        decode(json.dumps(pod().obj | {"request": {"uid": "u"}}).encode())
