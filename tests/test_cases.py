"""Every point that the cases expect of one admission request, each a test of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import apiserver
import pytest
from admission import admit
from builders import container, pod, review
from casefiles import Case, cases
from expectations import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = {case.name: case for case in cases()}

# Not about the answer to one request: their own tests are named.
_ELSEWHERE = {
    "compareAfter": "how to compare; done in every check",
    "webhookConfig": "the manifests",
    "must": "the controller",
    "controller": "the controller",
    "ifOptOutExists": "test_opt_out_of_case_03",
    "valid": "test_quantities_of_case_10",
    "invalid": "test_junk_of_case_10",
}
_NO_POINTS = {"name", "note", "strength"}


def _points(case: Case) -> Iterator[tuple[str, str, Any]]:
    """Iterate over (name of the request, kind of expectation, what is wanted)."""
    if isinstance(case.expect, list):
        return  # of HTTP: test_envelope.py and the serving tests
    for key, want in case.expect.items():
        if key == "responses":
            for response in want:
                for kind in response.keys() - _NO_POINTS:
                    yield response["name"], kind, response[kind]
        elif key == "eligibleNodes":
            for name, nodes in want.items():
                yield name, key, nodes
        elif key not in _ELSEWHERE:
            for name in case.reviews:
                yield from ((name, kind, what) for kind, what in _of_all(key, want))


def _of_all(key: str, want: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  as YAML has it
    """Iterate over what is expected of every request of a case."""
    if isinstance(want, dict):
        yield from want.items()
    elif key == "validity":
        yield key, want
    else:
        yield from (("must not" if key == "mustNot" else "always", text) for text in want)


POINTS = [
    pytest.param(case, name, kind, want, id=f"{case.name}/{name}: {kind} {want}"[:110])
    for case in CASES.values()
    for name, kind, want in sorted(_points(case), key=str)
]


@pytest.mark.parametrize(("case", "name", "kind", "want"), POINTS)
def test_point(case: Case, name: str, kind: str, want: Any) -> None:  # noqa: ANN401  as YAML has it
    KINDS[kind](admit(case.reviews[name], case.snapshot, case.policy), want, case)


REQUESTS = [
    pytest.param(case, name, id=f"{case.name}/{name}")
    for case in CASES.values()
    for name in case.reviews
]


@pytest.mark.parametrize(("case", "name"), REQUESTS)
def test_the_patched_pod_passes_validation(case: Case, name: str) -> None:
    answer = admit(case.reviews[name], case.snapshot, case.policy)
    if answer.patch:
        assert apiserver.faults(answer.after) == []


@pytest.mark.parametrize(("case", "name"), REQUESTS)
def test_a_second_call_gives_no_patch(case: Case, name: str) -> None:
    sent = case.reviews[name]
    after = admit(sent, case.snapshot, case.policy).after
    again = {**sent, "request": {**sent["request"], "object": after}}
    assert admit(again, case.snapshot, case.policy).patch == []


def test_opt_out_of_case_03() -> None:
    case = CASES["03-guaranteed-sidecar-fraction"]
    sent = case.reviews["main-plus-sidecar"]
    sent["request"]["object"]["metadata"]["annotations"] = {"evencore.io/cpu.log-agent": "keep"}
    answer = admit(sent, case.snapshot, case.policy)
    assert answer.cpu == {"one-core": ("2", "2"), "log-agent": ("300m", "300m")}


_GRAMMAR = CASES["10-quantity-grammar"].input
_VALID = [
    pytest.param(item["value"], item["expect"], id=f"{item['value']!r} becomes {item['expect']}")
    for item in _GRAMMAR["valid"]
]


@pytest.mark.parametrize(("value", "want"), _VALID)
def test_quantities_of_case_10(value: object, want: str) -> None:
    answer = admit(pod().cpu(value))
    wanted = value if want == "=" else want
    amounts = {"containers": {"app": {"requests": wanted, "limits": wanted}}}
    KINDS["cpu"](answer, amounts, CASES["10-quantity-grammar"])
    assert bool(answer.patch) is (want != "=")


@pytest.mark.parametrize("value", [item["value"] for item in _GRAMMAR["notGuaranteed"]])
def test_zero_of_case_10_is_left_alone(value: object) -> None:
    answer = admit(pod().cpu(value))
    assert answer.patch == []
    assert apiserver.qos(answer.after) != "Guaranteed"


@pytest.mark.parametrize("value", _GRAMMAR["invalid"], ids=repr)
def test_junk_of_case_10(value: object) -> None:
    """Allowed, unchanged, with a warning that names container and value, and at once."""
    sent = review(pod().containers(container("worker", cpu=value)))
    if value is None:
        sent.obj["request"]["object"]["spec"]["containers"][0]["resources"] = {
            "requests": {"cpu": None, "memory": "1Gi"},
            "limits": {"cpu": None, "memory": "1Gi"},
        }
    begin = time.process_time()
    answer = admit(sent)
    seconds = time.process_time() - begin
    assert answer.allowed
    assert answer.patch == []
    shown = ascii(value) if isinstance(value, str) else f"a {type(value).__name__}"
    assert f"container worker: limits.cpu {shown} is" in answer.warnings[0]
    assert seconds < 0.1
