"""Whatever comes in: it is read as far as it can be, and a review is answered with its uid."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from admission import check_envelope, post
from builders import review
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import Json, anything, clusters, damaged, pods

from evencore.domain.collect import collect
from evencore.domain.lenient import read
from evencore.domain.views import LimitRangeView, NodeView, PodView, TopologyView

reviews = pods().map(lambda pod: review(pod).obj)


def _strictly(view: type[msgspec.Struct], value: object) -> msgspec.Struct | None:
    try:
        return msgspec.json.decode(json.dumps(value), type=view)
    except msgspec.ValidationError:
        return None


@settings(max_examples=300)
@given(pod=pods() | damaged(pods()) | anything)
def test_a_pod_is_read_without_problems_exactly_if_msgspec_reads_it(pod: Any) -> None:  # noqa: ANN401  any JSON
    view, problems = read(PodView, pod)
    strict = _strictly(PodView, pod)
    assert (strict is None) is bool(problems)
    if strict is not None:
        # As JSON: None and missing are the same to a reader of views.
        assert msgspec.json.encode(view) == msgspec.json.encode(strict)


@settings(max_examples=150)
@given(value=damaged(clusters().filter(bool).map(lambda found: {"items": found})))
def test_other_objects_are_read_without_problems_exactly_if_msgspec_reads_them(
    value: Json,
) -> None:
    for item in value["items"] if isinstance(value.get("items"), list) else [value]:
        for kind in (NodeView, LimitRangeView, TopologyView):
            _, problems = read(kind, item)
            assert (_strictly(kind, item) is None) is bool(problems)


@settings(max_examples=150)
@given(value=damaged(clusters().map(lambda found: {"kind": "List", "items": found})) | anything)
def test_any_objects_become_a_snapshot(value: Any) -> None:  # noqa: ANN401  any JSON
    collect([value])


@settings(max_examples=300)
@given(sent=damaged(reviews), cluster=clusters())
def test_a_damaged_review_is_answered_or_refused_but_nothing_fails(
    sent: Json, cluster: list[Json]
) -> None:
    status, body, outcome = post(json.dumps(sent).encode(), collect(cluster).snapshot)
    assert outcome.result != "failed", outcome.error
    answer = json.loads(body)
    request = sent.get("request")
    uid = request.get("uid") if isinstance(request, dict) else None
    if isinstance(uid, float):  # numbers keep their text, and a text is a uid
        uid = str(uid) if status == 200 else None
    if (
        isinstance(uid, str)
        and sent.get("kind") == "AdmissionReview"
        and sent.get("apiVersion") == "admission.k8s.io/v1"
    ):
        assert status == 200
        check_envelope(answer, uid)
    else:
        assert status == 400
        assert answer.keys() == {"error"}


@settings(max_examples=200)
@given(body=st.binary(max_size=60) | anything.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_review_is_refused(body: bytes) -> None:
    status, answer, _ = post(body)
    assert status == 400
    assert json.loads(answer).keys() == {"error"}


@settings(max_examples=200)
@given(sent=damaged(reviews), cut=st.integers(0, 400), junk=st.binary(max_size=3))
@example(sent={"request": 5}, cut=1, junk=b"\xff")
def test_a_broken_body_is_answered_or_refused(sent: Json, cut: int, junk: bytes) -> None:
    whole = json.dumps(sent).encode()
    broken = whole[: max(0, len(whole) - 1 - cut)] + junk
    status, answer, _ = post(broken)
    assert status in (200, 400)
    json.loads(answer)
