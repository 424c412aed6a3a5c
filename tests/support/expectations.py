"""What a case may expect of the answer to a request: one function per kind of expectation.

Each takes the answer, what the case wants, and the case. A kind that a new case brings is one more
entry here; until then its points fail, so that nothing is passed over in silence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import apiserver
from admission import Answer, admit
from builders import node, snapshot
from kubernetes.utils.quantity import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable

    from casefiles import Case

_OURS = re.compile(r"/metadata/annotations(/evencore\.io~1(original-cpu|decision))?")


def allowed(answer: Answer, want: bool, _: Case) -> None:  # noqa: FBT001  as YAML has it
    assert answer.allowed is want


def qos(answer: Answer, want: str, _: Case) -> None:
    """Before and after, by the words of the documentation and by ours."""
    want = want.removesuffix(" (pod level)")
    assert apiserver.qos(answer.before) == want
    assert apiserver.qos(answer.after) == want
    decision = answer.outcome.decision
    assert decision is not None
    assert decision.qos is not None
    assert decision.qos.value == want


def patch(answer: Answer, want: str, _: Case) -> None:
    assert want in ("some", "none")
    assert bool(answer.patch) is (want == "some"), answer.patch


def cpu(answer: Answer, want: dict[str, Any], _: Case) -> None:
    """Amounts, not texts, after the API server's defaulting."""
    for name, amounts in want["containers"].items():
        have = [parse_quantity(value) for value in answer.cpu[name]]
        assert have == [parse_quantity(amounts[part]) for part in ("requests", "limits")]


def patch_touches_only(answer: Answer, want: list[str], _: Case) -> None:
    assert "product's own annotations" in want
    for op in answer.patch:
        assert op["path"] in want or _OURS.fullmatch(op["path"])


def unchanged(answer: Answer, want: list[str], _: Case) -> None:
    """Resources other than cpu, in each container."""

    def of(pod: dict[str, Any]) -> list[Any]:
        return [
            c["resources"][part].get(name)
            for c in apiserver.containers(pod)
            for part in ("requests", "limits")
            for name in want
        ]

    assert of(answer.after) == of(answer.before)
    assert any(of(answer.before))


def memory_after_defaulting(answer: Answer, want: dict[str, str], _: Case) -> None:
    for container in apiserver.containers(apiserver.defaulted(answer.after)):
        assert {part: container["resources"][part]["memory"] for part in want} == want


def affinity(answer: Answer, want: str, _: Case) -> None:
    assert want == "not added"
    assert answer.after["spec"].get("affinity") == answer.before["spec"].get("affinity")


def eligible_nodes(answer: Answer, want: dict[str, Any], case: Case) -> None:
    """Which nodes nodeSelector and required affinity allow, by an evaluator of the tests' own."""
    after = apiserver.eligible(answer.after, case.nodes)
    if "before" in want:
        assert apiserver.eligible(answer.before, case.nodes) == want["before"]
    if isinstance(want["after"], list):
        assert after == want["after"]
    else:
        assert set(want["after"]["must"]) <= set(after)
        assert not set(want["after"]["mustNotInclude"]) & set(after)
        assert set(want["after"]["should"]) <= set(after)


def valid(answer: Answer, _: str, __: Case) -> None:
    """Let API validation judge the patched pod."""
    assert apiserver.faults(answer.after) == []


def sentence(answer: Answer, want: str, case: Case) -> None:
    """Something that a case puts into words; SENTENCES says what it comes to."""
    SENTENCES[want](answer, case)


def accept_one_of(answer: Answer, want: list[str], case: Case) -> None:
    """Of several ways to be right, the one that is ours."""
    (ours,) = [text for text in want if text in SENTENCES]
    SENTENCES[ours](answer, case)


KINDS: dict[str, Callable[[Answer, Any, Case], None]] = {
    "acceptOneOf": accept_one_of,
    "affinity": affinity,
    "allowed": allowed,
    "always": sentence,
    "cpu": cpu,
    "eligibleNodes": eligible_nodes,
    "memoryAfterDefaulting": memory_after_defaulting,
    "must not": sentence,
    "patch": patch,
    "patchTouchesOnly": patch_touches_only,
    "qos": qos,
    "should": sentence,
    "unchanged": unchanged,
    "validity": valid,
}


def _kept_in_small(answer: Answer, case: Case) -> None:
    """Case 14: the container stays at 3, told with all facts, and kept off nodes that refuse 3."""
    assert answer.cpu == {"app": ("3", "3")}
    (warning,) = answer.warnings
    assert all(part in warning for part in ("lr", "app", "cpu 3 ", "4", "maximum 3"))
    checking = node("smt2").width(2)
    known = snapshot(checking)
    request = case.reviews["would-exceed"]
    again = admit(request, type(known)(nodes=known.nodes, maxima=case.snapshot.maxima))
    assert not apiserver.allows(again.after, checking.obj)


def _adds_no_existing_map(answer: Answer, _: Case) -> None:
    for op in answer.patch:
        at: Any = answer.before
        for part in op["path"].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            at = (at[int(key)] if key.isdecimal() else at.get(key)) if at and key != "-" else None
        assert op["op"] != "add" or not at, op


def _replaces_only_what_is_there(answer: Answer, _: Case) -> None:
    # A strict implementation has applied it already; what is left is what it would forgive.
    assert {op["op"] for op in answer.patch} <= {"add", "replace"}


def _changes_both_or_none(answer: Answer, _: Case) -> None:
    assert all(request == limit for request, limit in answer.cpu.values())


def _keeps_user_keys(answer: Answer, _: Case) -> None:
    for part in ("annotations", "labels"):
        before = answer.before["metadata"].get(part) or {}
        after = answer.after["metadata"].get(part) or {}
        assert before.items() <= after.items()


def _adds_text_and_maps(answer: Answer, _: Case) -> None:
    assert all(isinstance(value, str) for value in answer.annotations.values())
    for op in answer.patch:
        if op["path"].endswith(("annotations", "labels", "affinity", "nodeAffinity")):
            assert isinstance(op["value"], dict)


def _keeps_other_affinity(answer: Answer, _: Case) -> None:
    def others(pod: dict[str, Any]) -> list[Any]:
        found = pod["spec"].get("affinity") or {}
        node_affinity = found.get("nodeAffinity") or {}
        preferred = node_affinity.get(apiserver.PREFERRED)
        return [found.get("podAffinity"), found.get("podAntiAffinity"), preferred]

    assert others(answer.after) == others(answer.before)


def _is_narrower(answer: Answer, case: Case) -> None:
    before = set(apiserver.eligible(answer.before, case.nodes))
    assert set(apiserver.eligible(answer.after, case.nodes)) <= before


def _is_done_once(answer: Answer, case: Case) -> None:
    assert admit(answer.after, case.snapshot, case.policy).patch == []


def _has_escaped_paths(answer: Answer, _: Case) -> None:
    for op in answer.patch:
        assert re.fullmatch(r"(/([^/~]|~[01])*)+", op["path"])
        if "evencore.io" in op["path"]:
            assert "evencore.io~1" in op["path"]


def _is_done_everywhere(answer: Answer, case: Case) -> None:
    assert answer.cpu == {"app": ("4", "4")}
    (exclusion,) = case.input["exclusions"]
    assert not apiserver.allows(answer.after, node(exclusion["node"]).obj)
    assert apiserver.allows(answer.after, node("node-b").obj)


def _tells_of_the_log_agent(answer: Answer, _: Case) -> None:
    assert any("log-agent: cpu 300m → 2" in warning for warning in answer.warnings)


def _warns_of(*parts: str) -> Callable[[Answer, Case], None]:
    return lambda answer, _: _some_warning_has(answer, parts)


def _some_warning_has(answer: Answer, parts: tuple[str, ...]) -> None:
    assert any(all(part in warning for part in parts) for warning in answer.warnings)


def _drops_no_memory(answer: Answer, _: Case) -> None:
    for container in apiserver.containers(apiserver.defaulted(answer.after)):
        assert "memory" in container["resources"]["requests"]


def _leaves_a_trace(answer: Answer, _: Case) -> None:
    assert answer.warnings
    if answer.patch:
        assert {"evencore.io/original-cpu", "evencore.io/decision"} <= answer.annotations.keys()


def _was_not_lowered(answer: Answer, _: Case) -> None:
    assert all(parse_quantity(request) >= 3 for request, _ in answer.cpu.values())


def _strict(answer: Answer, _: Case) -> None:
    # `admit` has applied the patch with a strict implementation.
    assert answer.allowed
    assert answer.patch


SENTENCES: dict[str, Callable[[Answer, Case], None]] = {
    # 03
    "an admission warning or annotation states that log-agent went from 300m to 2 CPUs "
    "(pod total 1.3 -> 4)": _tells_of_the_log_agent,
    # 08
    "emit op replace/remove on /spec/containers/0/resources/requests or .../requests/cpu where it "
    "does not exist": _replaces_only_what_is_there,
    "drop the memory request": _drops_no_memory,
    # 12
    "a warning that pod-level resources are not aligned": _warns_of("pod-level resources"),
    # 14
    "product reads LimitRanges: allowed, no cpu patch, a warning with the same facts, and node "
    "affinity keeps the pod off full-pcpus-only nodes": _kept_in_small,
    "round down to 2": _was_not_lowered,
    "change only requests or only limits": _changes_both_or_none,
    "patch without any trace of what was changed": _leaves_a_trace,
    # 15
    "allowed true; patch applies with a strict RFC 6902 implementation (add to a child of a "
    "missing or null parent is an error there)": _strict,
    "cpu becomes 4/4 and node-a is excluded in every variant": _is_done_everywhere,
    "annotations-present: both user keys survive unchanged": _keeps_user_keys,
    "any new annotation value is a JSON string, any new map is a JSON object (never the string "
    '"{}")': _adds_text_and_maps,
    "podAntiAffinity in nodeaffinity-null survives": _keeps_other_affinity,
    "'/' in keys is ~1 and '~' is ~0 in patch paths": _has_escaped_paths,
    "op test/replace on a missing path": _replaces_only_what_is_there,
    "an add of the whole /metadata/annotations or /spec/affinity when that map exists and is not "
    "empty": _adds_no_existing_map,
    # 24
    "after is a subset of before (never widened)": _is_narrower,
    "preferred terms and podAffinity unchanged": _keeps_other_affinity,
    "a second call on the result gives no patch": _is_done_once,
    # 31
    "warning: nodeName is set, node exclusion has no effect": _warns_of("nodeName is set"),
}
