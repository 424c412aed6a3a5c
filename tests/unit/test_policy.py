"""The policy file: strict, and every problem told at once with its place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evencore.domain.policy import (
    CpuMode,
    OnRejection,
    Policy,
    PolicyError,
    TopologyMode,
)


def test_an_empty_file_means_the_defaults() -> None:
    assert Policy.from_mapping(None) == Policy.from_mapping({}) == Policy()


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert Policy().as_written() == {
        "cpu": "round-up",
        "topology": "required",
        "onRejection": "hold",
        "defaultThreadsPerCore": 2,
        "roundFrom": "0",
        "ignoredNamespaces": Policy().as_written()["ignoredNamespaces"],
        "exclusions": {"initial": "120s", "maximum": "900s"},
        "holds": {
            "after": 3,
            "afterForJobs": 1,
            "within": "600s",
            "firstRelease": "10s",
            "slowestRelease": "900s",
            "releaseWithRoom": "30s",
            "longest": "900s",
        },
        "rejections": {"afterKubeletStart": "120s", "keep": 3},
    }


def test_the_systems_own_namespaces_never_take_part_by_default() -> None:
    assert Policy().ignored_namespaces == {"kube-system", "evencore-system"}


def test_everything_can_be_set() -> None:
    policy = Policy.from_mapping(
        {
            "cpu": "warn",
            "topology": "off",
            "onRejection": "report",
            "defaultThreadsPerCore": 4,
            "roundFrom": "1500m",
            "ignoredNamespaces": ["infra"],
            "exclusions": {"initial": "90s", "maximum": "1h30m"},
        }
    )
    assert (policy.cpu, policy.topology, policy.on_rejection) == (
        CpuMode.WARN,
        TopologyMode.OFF,
        OnRejection.REPORT,
    )
    assert (policy.default_threads_per_core, policy.round_from) == (4, 1500)
    assert policy.ignored_namespaces == {"infra"}
    assert policy.exclusions.initial == timedelta(seconds=90)
    assert policy.exclusions.maximum == timedelta(hours=1, minutes=30)


def test_a_policy_reads_what_it_writes() -> None:
    policy = Policy.from_mapping(
        {
            "roundFrom": "2500m",
            "exclusions": {"initial": "1m"},
            "holds": {
                "firstRelease": "1s500ms",
                "releaseWithRoom": "1500ms",
                "longest": "0s",
                "within": "9999h",
            },
        }
    )
    assert policy.holds.first_release == policy.holds.release_with_room == timedelta(seconds=1.5)
    assert Policy.from_mapping(policy.as_written()) == policy


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        pytest.param(
            {"cpu": "up"},
            "cpu: must be 'round-up', 'warn', 'deny' or 'keep', not 'up'",
            id="a wrong value, with the allowed ones",
        ),
        pytest.param(
            {"topology": True},
            "topology: must be 'required', 'preferred' or 'off', not True",
            id="a value of another type",
        ),
        pytest.param(
            {"topolgy": "off"},
            "topolgy: unknown; allowed here: cpu, defaultThreadsPerCore, exclusions, "
            "holds, ignoredNamespaces, onRejection, rejections, roundFrom, topology",
            id="an unknown key, with the known ones",
        ),
        pytest.param(
            {"exclusions": {"first": "1m"}},
            "exclusions.first: unknown; allowed here: initial, maximum",
            id="an unknown key within",
        ),
        pytest.param(
            {"exclusions": {"initial": "soon"}},
            "exclusions.initial: write a duration such as 90s, 2m or 1h30m, not 'soon'",
            id="a wrong duration, with its place",
        ),
        pytest.param(
            {"exclusions": {"initial": "20m", "maximum": "10m"}},
            "exclusions: initial (1200s) is above maximum (600s)",
            id="times that contradict each other",
        ),
        pytest.param(
            {"holds": {"firstRelease": "20m"}},
            "holds: firstRelease (1200s) is above slowestRelease (900s)",
            id="releases that would slow down to a faster pace",
        ),
        pytest.param(
            {"holds": {"after": 0}},
            "holds.after: must be a whole number from 1 to 10, not 0",
            id="a hold without a reason",
        ),
        pytest.param(
            {"holds": {"longest": "9999h1s"}},
            "holds.longest: must be at most 9999h, not '9999h1s'",
            id="a duration longer than any",
        ),
        pytest.param(
            {"exclusions": {"maximum": 5}},
            "exclusions.maximum: write a duration such as 90s, 2m or 1h30m, not 5",
            id="a duration without unit",
        ),
        pytest.param(
            {"defaultThreadsPerCore": 3},
            "defaultThreadsPerCore: must be 1, 2, 4 or 8, not 3",
            id="a width that no processor has",
        ),
        pytest.param(
            {"defaultThreadsPerCore": True},
            "defaultThreadsPerCore: must be 1, 2, 4 or 8, not True",
            id="true is not one",
        ),
        pytest.param(
            {"rejections": {"keep": True}},
            "rejections.keep: must be a whole number from 0 to 100, not True",
            id="nor is it a number of pods",
        ),
        pytest.param(
            {"rejections": {"keep": 3.0}},
            "rejections.keep: must be a whole number from 0 to 100, not 3.0",
            id="a number with a point is none to count with",
        ),
        pytest.param(
            {"rejections": {"keep": "\u0663"}},
            r"rejections.keep: must be a whole number from 0 to 100, not '\u0663'",
            id="nor is a digit of another script",
        ),
        pytest.param(
            {"ignoredNamespaces": ["a", 1]},
            "ignoredNamespaces.1: must be text, not 1",
            id="one wrong value of a list, with its number",
        ),
        pytest.param(
            {"ignoredNamespaces": ["\ud800"]},
            r"ignoredNamespaces.0: must be text in UTF-8, not '\ud800'",
            id="half a character, with which no line of a log can be written",
        ),
        pytest.param(
            {"exclusions": None},
            "exclusions: must be a map with any of initial, maximum, not None",
            id="a key with nothing below it",
        ),
        pytest.param(
            {"keep\n\x1b[2J": 1},
            "'keep\\n\\x1b[2J': unknown; allowed here: cpu, defaultThreadsPerCore, exclusions, "
            "holds, ignoredNamespaces, onRejection, rejections, roundFrom, topology",
            id="a key that would clear the screen",
        ),
        pytest.param(
            {"cpu": "x" * 500},
            "cpu: must be 'round-up', 'warn', 'deny' or 'keep', not '" + "x" * 39 + "...",
            id="a long value is cut",
        ),
    ],
)
def test_a_problem_names_its_place_and_what_is_allowed(written: object, problem: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping(written, "evencore.yaml")
    assert caught.value.problems == [problem]
    assert str(caught.value) == f"evencore.yaml: {problem}"


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ({"roundFrom": "a"}, "roundFrom: 'a' is no Kubernetes quantity"),
        ({"roundFrom": "-1"}, "roundFrom: '-1' is negative"),
        ({"ignoredNamespaces": "kube"}, "ignoredNamespaces: must be a list, not 'kube'"),
        ({"ignoredNamespaces": [1]}, "ignoredNamespaces.0: "),
        ({"exclusions": [1]}, "exclusions: must be a map with any of initial, maximum, not [1]"),
        ({1: 2}, "1: "),
        ([1], "must be a map with any of cpu, defaultThreadsPerCore, "),
        ("text", "must be a map with any of cpu, defaultThreadsPerCore, "),
    ],
    ids=ascii,
)
def test_a_wrong_shape_is_a_problem_too(written: object, place: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping(written)
    (problem,) = caught.value.problems
    assert problem.startswith(place)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping({"cpu": 1, "typo": 2, "exclusions": {"initial": "", "x": 1}})
    assert {problem.split(":")[0] for problem in caught.value.problems} == {
        "cpu",
        "typo",
        "exclusions.initial",
        "exclusions.x",
    }


def test_what_contradicts_each_other_is_told_beside_other_mistakes() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping({"holds": {"firstRelease": "20m", "after": 0}})
    assert [problem.split(" (")[0] for problem in caught.value.problems] == [
        "holds.after: must be a whole number from 1 to 10, not 0",
        "holds: firstRelease",
    ]


def test_what_is_wrong_contradicts_nothing() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_mapping({"exclusions": {"initial": "soon", "maximum": "1m"}})
    assert len(caught.value.problems) == 1


def test_a_number_may_be_quoted() -> None:
    assert Policy.from_mapping({"holds": {"after": "5"}}).holds.after == 5


def test_policies_are_values() -> None:
    assert len({Policy(), Policy.from_mapping({}), Policy.from_mapping({"cpu": "warn"})}) == 2
    with pytest.raises(AttributeError):
        Policy().cpu = CpuMode.WARN  # type: ignore[misc]


def test_a_job_is_tried_as_slowly_as_can_be_and_all_else_holds_for_it() -> None:
    holds = Policy.from_mapping({"holds": {"slowestRelease": "5m", "after": 4}}).holds
    assert holds.of("ReplicaSet") == holds
    assert (holds.of("Job").first_release, holds.of("Job").after) == (timedelta(minutes=5), 4)


def test_off_without_quotes_is_what_yaml_makes_of_it() -> None:
    assert Policy.from_mapping({"topology": False}).topology == "off"
