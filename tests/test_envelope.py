"""Case 21: bodies of every kind, and what comes back for each. Paths and methods: tests/webhook."""

from __future__ import annotations

import base64
import json

import pytest
from admission import check_envelope, post
from builders import UID, container, pod, review
from casefiles import cases

(CASE,) = [case for case in cases() if case.name == "21-response-envelope"]
_DEPLOYMENT = {"group": "apps", "version": "v1", "kind": "Deployment"}
_V1BETA1 = review(pod().cpu("3"))
_V1BETA1.obj["apiVersion"] = "admission.k8s.io/v1beta1"

# What the case describes, under its name.
BODIES = {
    "nothing-to-change": review(pod().cpu("2")).body,
    "needs-patch": review(pod().cpu("3")).body,
    "handler-error": review(pod().cpu("abc")).body,
    "other-kind": review({"kind": "Deployment", "spec": {"replicas": 1}})
    .with_(kind=_DEPLOYMENT)
    .body,
    "list-containers-null": review(pod().spec(containers=None)).body,
    "v1beta1": _V1BETA1.body,
    "big": review(pod().cpu("3").annotate("team.example/note", "x" * 2**20)).body,
    "empty-body": b"",
    "not-json": b"hello",
    "json-but-no-request": b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    "json-array": b"[]",
}
_OF_THE_SERVER = {"get", "query-timeout"}
_NAMED = {item["name"]: item for item in CASE.expect if isinstance(item, dict)}


def test_every_body_of_the_case_is_here() -> None:
    assert BODIES.keys() == _NAMED.keys() - _OF_THE_SERVER


@pytest.mark.parametrize("name", BODIES)
def test_the_status_is_the_one_wanted(name: str) -> None:
    status, _, _ = post(BODIES[name])
    # A v1beta1 review may get a v1beta1 answer or 400; ours is 400.
    assert status == _NAMED[name].get("http", 400)


@pytest.mark.parametrize("name", [name for name in BODIES if _NAMED[name].get("http") == 200])
def test_an_answer_has_the_envelope_that_the_api_server_demands(name: str) -> None:
    _, body, _ = post(BODIES[name])
    check_envelope(json.loads(body), UID)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("nothing-to-change", {"uid", "allowed"}),
        ("needs-patch", {"uid", "allowed", "patch", "patchType", "warnings"}),
        ("handler-error", {"uid", "allowed", "warnings"}),
        ("other-kind", {"uid", "allowed"}),
        ("list-containers-null", {"uid", "allowed"}),
    ],
)
def test_an_answer_says_no_more_than_it_must(name: str, want: set[str]) -> None:
    _, body, _ = post(BODIES[name])
    assert json.loads(body)["response"].keys() == want


def test_a_patch_is_a_list_of_operations_in_base64() -> None:
    _, body, _ = post(BODIES["needs-patch"])
    operations = json.loads(base64.b64decode(json.loads(body)["response"]["patch"]))
    assert [sorted(op) for op in operations] == [["op", "path", "value"]] * len(operations)


def test_a_large_object_is_not_echoed_back() -> None:
    status, body, _ = post(BODIES["big"])
    assert status == 200
    assert "patch" in json.loads(body)["response"]
    assert len(body) < 2000


# What is no review is refused, in JSON and without a trace of our insides.
NO_REVIEWS = {
    "nothing": b"",
    "white space": b"  \n",
    "a word": b"hello",
    "bytes that are no text": b"\xff\xfe\x00",
    "text that is no UTF-8": b'{"apiVersion":"\xff"}',
    "half a review": review(pod()).body[:-20],
    "a wrong type before the end is missing": b'{"request": 5, ',
    "a list that does not end": b"[1,",
    "a wrong type before bytes that are no text": b'{"apiVersion":5,"kind":"\xff"}',
    "two documents": review(pod()).body * 2,
    "text behind a review whose name is a number": review(pod()).with_(name=5).body + b" x",
    "a byte order mark": b"\xef\xbb\xbf" + review(pod()).body,
    "null": b"null",
    "a list": b"[]",
    "an empty object": b"{}",
    "a request that is a list": json.dumps({**review(pod()).obj, "request": []}).encode(),
    "a request without a uid": json.dumps({**review(pod()).obj, "request": {}}).encode(),
    "a uid that is a number": review(pod()).with_(uid=7).body,
    "a uid that is null": review(pod()).with_(uid=None).body,
    "a kind that is a number": json.dumps({**review(pod()).obj, "kind": 1}).encode(),
    "another kind": json.dumps({**review(pod()).obj, "kind": "Pod"}).encode(),
    "an API version in capitals": review(pod()).body.replace(b"k8s.io/v1", b"k8s.io/V1"),
    "a pod and no review": json.dumps(pod().obj).encode(),
    "lists in lists in lists": b"[" * 100_000,
    "objects in objects, closed": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "half of a surrogate pair": review(pod()).body.replace(b"app-1", b"\\ud800"),
    "a number of more digits than Python reads": review(pod()).body.replace(
        b'"dryRun": false', b'"name":' + b"9" * 5000
    ),
    "control characters, quotes": b'{"apiVersion":"\\u0000"\\\\","kind":"","request":{"uid":""}}',
    "a bare NaN": b"NaN",
}


@pytest.mark.parametrize("name", NO_REVIEWS)
def test_what_is_no_review_is_refused(name: str) -> None:
    status, body, outcome = post(NO_REVIEWS[name])
    assert status == 400
    assert outcome.result == "refused"
    (error,) = json.loads(body).values()
    assert error
    assert len(body) < 400
    assert "Traceback" not in error


# What is a review is answered, with its uid, however odd its object.
ODD_REVIEWS = {
    "no object": review(None),
    "an object that is text": review("pod"),
    "an empty object": review({}),
    "a pod without spec": review({"metadata": {"name": "x"}}),
    "a spec that is a list": review(pod()).with_(object={"spec": []}),
    "a container that is null": review(pod().spec(containers=[None])),
    "containers that are an object": review(pod().spec(containers={"name": "app"})),
    "resources that are a list": review(
        pod().spec(containers=[container().obj | {"resources": []}])
    ),
    "requests that are text": review(pod().containers(container().requests("2"))),
    "an annotation that is a number": review(pod().metadata(annotations={"a": 1})),
    "a label that is null": review(pod().metadata(labels={"a": None})),
    "an affinity that is text": review(pod().spec(affinity="none")),
    "a term that is null": review(pod().required(None)),
    "values that are numbers": review(
        pod().required({"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]})
    ),
    "an owner that is text": review(pod().metadata(ownerReferences=["rs"])),
    "a nodeName that is a number": review(pod().spec(nodeName=7)),
    "a kind that is text": review(pod()).with_(kind="Pod"),
    "an operation that is null": review(pod()).with_(operation=None),
    "an empty uid": review(pod()).with_(uid=""),
    "a uid with quotes": review(pod()).with_(uid='"\\ü\u2028'),
    "a subresource that is a number": review(pod().cpu("3")).with_(subResource=5),
    "a name of 100,000 characters": review(pod("x" * 100_000)),
    "a cpu that is a list in lists": review(pod().cpu([[[[[]]]]])),
}


@pytest.mark.parametrize("name", ODD_REVIEWS)
def test_what_is_a_review_is_answered_unchanged(name: str) -> None:
    sent = ODD_REVIEWS[name]
    status, body, _ = post(sent.body)
    assert status == 200
    answer = json.loads(body)
    check_envelope(answer, sent.request["uid"])
    assert answer["response"]["allowed"]
    assert "patch" not in answer["response"]


def test_fields_of_later_versions_are_no_obstacle() -> None:
    sent = review(pod().cpu("3").spec(somethingNew={"deep": [1, {}]})).with_(later=[None])
    sent.obj["alsoLater"] = 1
    _, body, outcome = post(sent.body)
    assert outcome.result == "patched"
    check_envelope(json.loads(body), UID)


def test_of_a_key_that_comes_twice_the_last_counts_as_in_go() -> None:
    body = review(pod().cpu("3")).body
    first = body.replace(b'"uid": "', b'"uid": "first", "uid": "', 1)
    _, answer, _ = post(first)
    check_envelope(json.loads(answer), UID)
