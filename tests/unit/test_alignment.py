"""Rung 1: whole cores for every container, or a sentence why not."""

from __future__ import annotations

import pytest
from builders import Container, container, pod

from evencore.domain.alignment import Alignment, align, round_up
from evencore.domain.annotations import PodPolicy
from evencore.domain.policy import CpuMode, OnRejection, TopologyMode
from evencore.domain.resources import read_amounts
from evencore.domain.snapshot import CpuMaximum, Maxima


def aligned(  # noqa: PLR0913  each is one thing that alignment depends on
    *containers: Container,
    inits: tuple[Container, ...] = (),
    width: int = 2,
    mode: CpuMode = CpuMode.ROUND_UP,
    of: dict[str, CpuMode] | None = None,
    round_from: int = 0,
    maximum: Maxima | None = None,
) -> Alignment:
    spec = pod().containers(*containers).inits(*inits).view.spec
    assert spec is not None
    policy = PodPolicy(mode, TopologyMode.REQUIRED, OnRejection.HOLD, of or {})
    found = read_amounts(spec).containers
    return align(found, policy.cpu_modes(found), width, round_from, maximum or Maxima())


def after(alignment: Alignment) -> dict[str, int]:
    return {container.name: millis for container, millis, _ in alignment.result}


@pytest.mark.parametrize(
    ("millis", "width", "want"),
    [
        (1, 1, 1000),
        (1000, 1, 1000),
        (1001, 2, 2000),
        (2000, 2, 2000),
        (2001, 2, 4000),
        (3000, 4, 4000),
        (9000, 8, 16000),
        (9007199254740993000, 2, 9007199254740994000),
    ],
)
def test_amounts_are_rounded_up_to_whole_cores(millis: int, width: int, want: int) -> None:
    assert round_up(millis, width) == want


@pytest.mark.parametrize(
    ("cpu", "width", "sentence"),
    [
        ("3", 2, "container app: cpu 3 → 4, whole cores of 2 threads"),
        ("3", 4, "container app: cpu 3 → 4, whole cores of 4 threads"),
        ("2500m", 1, "container app: cpu 2500m → 3, whole CPUs; 500m more"),
        ("100m", 2, "container app: cpu 100m → 2, whole cores of 2 threads; 1900m more"),
    ],
)
def test_a_change_says_what_and_why_and_what_a_fraction_costs(
    cpu: str, width: int, sentence: str
) -> None:
    (change,) = aligned(container(cpu=cpu), width=width).changes
    assert change.sentence == sentence


@pytest.mark.parametrize("cpu", ["2", "2000m", "2.0", "4e0", 2])
def test_what_is_whole_cores_is_not_changed_however_it_is_written(cpu: object) -> None:
    found = aligned(container(cpu=cpu))
    assert found.changes == found.warnings == found.denials == ()


def test_app_init_and_sidecar_containers_are_treated_alike() -> None:
    found = aligned(
        container("app", cpu="3"),
        inits=(container("init", cpu="1500m"), container("proxy", cpu="100m").sidecar()),
    )
    assert after(found) == {"app": 4000, "init": 2000, "proxy": 2000}


def test_keep_leaves_a_container_without_a_word() -> None:
    found = aligned(container("a", cpu="3"), container("b", cpu="3"), of={"b": CpuMode.KEEP})
    assert after(found) == {"a": 4000, "b": 3000}
    assert found.warnings == ()


def test_warn_changes_nothing_and_names_what_would_fit() -> None:
    found = aligned(container(cpu="3"), mode=CpuMode.WARN)
    assert after(found) == {"app": 3000}
    assert found.warnings == (
        (
            "container app: cpu 3 → 2 or 4: kubelets with full-pcpus-only refuse it "
            "(2 threads per core)"
        ),
    )


def test_warn_tells_of_a_fraction_that_it_is_not_pinned() -> None:
    (warning,) = aligned(container(cpu="2500m"), mode=CpuMode.WARN).warnings
    assert warning == (
        "container app: cpu 2500m is a fraction, which no kubelet pins; 4 would be pinned"
    )


@pytest.mark.parametrize(
    ("cpu", "width", "fitting"), [("3", 2, "2 or 4"), ("1", 2, "2"), ("5", 4, "4 or 8")]
)
def test_deny_names_the_values_that_fit(cpu: str, width: int, fitting: str) -> None:
    (denial,) = aligned(container(cpu=cpu), width=width, mode=CpuMode.DENY).denials
    assert denial.startswith(f"container app: cpu {cpu} → {fitting}: ")


def test_deny_only_warns_of_a_fraction_for_no_kubelet_refuses_it() -> None:
    found = aligned(container(cpu="2500m"), mode=CpuMode.DENY)
    assert found.denials == ()
    assert len(found.warnings) == 1


def test_deny_names_every_container() -> None:
    found = aligned(container("a", cpu="3"), container("b", cpu="5"), mode=CpuMode.DENY)
    assert [denial.split(":")[0] for denial in found.denials] == ["container a", "container b"]


@pytest.mark.parametrize(
    ("round_from", "want"), [(0, 2000), (500, 2000), (501, 500)], ids=["off", "at", "above"]
)
def test_a_container_below_round_from_is_left_alone(round_from: int, want: int) -> None:
    assert after(aligned(container(cpu="500m"), round_from=round_from)) == {"app": want}


def test_a_container_is_not_raised_above_the_maximum_of_a_limit_range() -> None:
    maximum = Maxima(container=CpuMaximum(3000, "small"))
    found = aligned(container("a", cpu="3"), container("b", cpu="1"), maximum=maximum)
    assert after(found) == {"a": 3000, "b": 2000}
    assert found.warnings == (
        "container a: cpu 3 kept: 4 is above the maximum 3 of LimitRange small",
    )


def test_the_maximum_itself_is_allowed() -> None:
    maximum = Maxima(container=CpuMaximum(4000, "lr"))
    assert after(aligned(container(cpu="3"), maximum=maximum)) == {"app": 4000}


def test_a_pod_is_not_raised_above_the_maximum_for_pods() -> None:
    maximum = Maxima(pod=CpuMaximum(7000, "lr"))
    found = aligned(container("a", cpu="3"), container("b", cpu="3"), maximum=maximum)
    assert after(found) == {"a": 3000, "b": 3000}
    assert found.changes == ()
    assert found.warnings == ("cpu kept: 8 for the pod is above the maximum 7 of LimitRange lr",)


def test_an_init_container_counts_for_the_pod_only_while_it_runs() -> None:
    maximum = Maxima(pod=CpuMaximum(4000, "lr"))
    found = aligned(container(cpu="3"), inits=(container("init", cpu="3"),), maximum=maximum)
    assert after(found) == {"app": 4000, "init": 4000}


def test_a_pod_that_was_above_the_maximum_anyway_is_not_warned_about_if_nothing_changes() -> None:
    maximum = Maxima(CpuMaximum(1000, "lr"), CpuMaximum(1000, "lr"))
    assert aligned(container(cpu="2"), maximum=maximum).warnings == ()


@pytest.mark.parametrize(
    ("mode", "ours"),
    [
        (CpuMode.ROUND_UP, True),
        (CpuMode.WARN, False),
        (CpuMode.DENY, False),
        (CpuMode.KEEP, False),
    ],
)
def test_only_what_may_be_rounded_is_ours_to_align(mode: CpuMode, *, ours: bool) -> None:
    assert [mine for _, _, mine in aligned(container(), mode=mode).result] == [ours]
