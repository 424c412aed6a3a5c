"""How many pods kubelets reject until every pod that can run runs and the rest is held.

Everything is started at once: rejected pods of one owner must not cost another.
"""

from __future__ import annotations

import math
import time
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import pytest
from e2e import workloads
from e2e.api import until
from e2e.world import FACTOR

from evencore.domain import names
from evencore.domain.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.world import World

FILLERS = {"crowded": (12, 12), "pod-scope": (12, 12), "split": (44,), "told": ()}
"""Group → CPUs taken on each node: of 22 + 24 CPUs 10 + 12 are left, of 44 whole ones none."""

ALIGNED, SMT = "TopologyAffinityError", "SMTAlignmentError"


class Case(NamedTuple):
    """A workload, and how it is to end."""

    kind: str
    replicas: int
    cpus: tuple[str, ...]
    group: str
    most: int  # rejected pods before the first trial
    reason: str = ALIGNED
    running: int = 0  # all others are held, or wait for nodes that do not exist


CASES = {
    "a Deployment of 1 that fits nowhere": Case("Deployment", 1, ("16",), "crowded", 3),
    "a Deployment of 5 that fit nowhere": Case("Deployment", 5, ("16",), "crowded", 6),
    "a Deployment of 50 that fit nowhere": Case("Deployment", 50, ("16",), "crowded", 10),
    "a StatefulSet of 3": Case("StatefulSet", 3, ("16",), "crowded", 3),
    "a ReplicationController of 1": Case("ReplicationController", 1, ("16",), "crowded", 3),
    "a Job of one pod": Case("Job", 1, ("16",), "crowded", 1),
    "a Job of five pods": Case("Job", 5, ("16",), "crowded", 3),
    "a pod too large only as a whole": Case("Deployment", 1, ("8", "8"), "pod-scope", 3),
    "no whole cores left": Case("Deployment", 1, ("2",), "split", 3, SMT),
    "3 CPUs are no whole cores": Case("Deployment", 2, ("3",), "spare", 0, running=2),
    "2500m are no whole CPUs": Case("Deployment", 2, ("2500m",), "spare", 0, running=2),
    "27 CPUs where NUMA sizes are known": Case("Deployment", 2, ("27",), "told", 0),
    "20 CPUs, which one node alone has": Case("Deployment", 2, ("20",), "told", 0, running=2),
}


def name_of(case: Case) -> str:
    """Name a workload after what it is."""
    return f"{case.kind}-{case.replicas}-{'-'.join(case.cpus)}-{case.group}".lower()


@pytest.fixture(scope="module")
def namespace(world: World) -> Iterator[str]:
    """Start all workloads at once."""
    with world.namespace("counts") as made, world.nodes.told("told"):
        for group, sizes in FILLERS.items():
            world.fill(made, group, *sizes)
        for case in CASES.values():
            hosts = world.nodes.hosts(case.group)
            world.api.make(
                workloads.workload(
                    case.kind, made, name_of(case), hosts, *case.cpus, replicas=case.replicas
                )
            )
        # All at once: what is held now will be let go in a while, and is counted otherwise then.
        until(
            lambda: all(settled(world, made, case) for case in CASES.values()),
            lambda: world.story(made),
        )
        yield made


def settled(world: World, namespace: str, case: Case) -> bool:
    """Tell whether what can run runs, and everything else waits: held, let go again, or in vain."""
    lives = world.counter.lives(namespace, name_of(case))
    running = sum(life.phase == "Running" for life in lives)
    loose = sum(life.phase == "Pending" and not life.steered for life in lives)
    if not case.most:
        return running == case.running and len(lives) == case.replicas
    return running == case.running and not loose and any(life.steered for life in lives)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_few_pods_are_rejected_until_the_rest_is_held(
    case: Case, world: World, namespace: str
) -> None:
    rejected = world.counter.rejected(namespace, name_of(case))
    assert len(rejected) <= case.most
    assert {life.rejected for life in rejected} <= {case.reason}
    assert bool(rejected) is bool(case.most), "the test has tested nothing"


def test_trials_of_held_pods_become_ever_rarer(world: World, namespace: str) -> None:
    first = Policy().holds.first_release.total_seconds() / FACTOR
    held = [name_of(case) for case in CASES.values() if case.most and case.kind != "Job"]

    def trials(name: str) -> int:
        return len(world.counter.rejected(namespace, name, let_go=True))

    until(lambda: all(map(trials, held)), lambda: {name: trials(name) for name in held})
    for name in held:
        rejected = world.counter.rejected(namespace, name)
        begin = min(life.pod["metadata"]["creationTimestamp"] for life in rejected)
        elapsed = time.time() - datetime.fromisoformat(begin).timestamp()
        # After 2, 4, 8, ... seconds; begin and end are whole seconds, hence one more.
        assert trials(name) <= math.log2(elapsed / first + 1) + 1, name


def test_no_trial_costs_a_job_a_retry(world: World, namespace: str) -> None:
    jobs = [name_of(case) for case in CASES.values() if case.kind == "Job"]
    assert [world.counter.rejected(namespace, name, let_go=True) for name in jobs] == [[], []]


def test_what_no_known_node_can_admit_is_told_once_and_waits(world: World, namespace: str) -> None:
    until(
        lambda: world.api.events(namespace, names.NEVER_FITS, "ReplicaSet"),
        lambda: world.api.there("Event", namespace),
    )
