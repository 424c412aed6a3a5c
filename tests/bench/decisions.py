"""What a verdict and a release cost in clusters of any size: `python -m tests.bench.decisions`.

Each figure is told as a multiple of the same decision in the smallest cluster, measured in turns
with it: trust the multiples, not the microseconds. None may grow faster than the logarithm.
"""

import gc
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from controller.flock import flock
from evencore.domain.decision import decide
from evencore.domain.lenient import read
from evencore.domain.policy import Policy
from evencore.domain.release import release
from evencore.domain.views import PodView

from . import crowd
from .progress import clear, note
from .stats import median

NODES: Sequence[int] = (10, 100, 1000, 5000)
PODS: Sequence[int] = (100, 1000, 10_000, 100_000)
MOST_BYTES = 1024
_BATCH_SECONDS = 0.01
_ROUNDS = 9
_POLICY = Policy()


@dataclass(frozen=True)
class Figure:
    """One decision at one size: microseconds, and as a multiple of that at the smallest size."""

    what: str
    size: int
    micros: float
    times: float
    allowed: float

    @property
    def met(self) -> bool:
        """Whether it grew no faster than the logarithm of its input."""
        return self.times <= self.allowed


def verdict_in(nodes: int) -> Callable[[], object]:
    """Return the webhook's whole decision about the next pod of an owner that loops."""
    known = crowd.snapshot(crowd.nodes(nodes), 100)
    obj = crowd.pod(1)
    obj["metadata"] = {**obj["metadata"], "name": None, "labels": {}, "annotations": {}}
    obj["spec"] = {"containers": obj["spec"]["containers"]}
    pod = read(PodView, {**obj, "status": None})[0]
    assert decide(pod, "team-000", _POLICY, known, crowd.NOW).hold
    return lambda: decide(pod, "team-000", _POLICY, known, crowd.NOW)


def release_in(pods: int) -> Callable[[], object]:
    """Return the controller's decision about the held pods of one owner among many."""
    state, mirror = crowd.state(pods)
    known = crowd.snapshot(crowd.nodes(100), max(1, pods // crowd.REPLICAS // crowd.LOOPING))

    def decision() -> object:
        assert mirror
        evidence = known.evidence.of(crowd.owner(0), crowd.NOW)
        found = flock(state.steered.of(crowd.owner(0)).values(), lambda _: False, crowd.NOW)
        return release(found, evidence, known.rooms, crowd.NOW, _POLICY.holds)

    return decision


def times(
    what: str, sizes: Sequence[int], make: Callable[[int], Callable[[], object]]
) -> list[Figure]:
    """Time a decision at all sizes in turns, so that a slow moment of the machine slows all."""
    made = []
    for size in sizes:
        note(f"{what}: making {size:,}")
        made.append(make(size))
    gc.collect()
    gc.freeze()  # what is kept is not walked while we measure, as little of it is in the processes
    repeats = max(1, int(_BATCH_SECONDS / max(_seconds(made[0], 10), 1e-6)))
    rounds = [[_seconds(decision, repeats) for decision in made] for _ in range(_ROUNDS)]
    gc.unfreeze()
    return [
        Figure(
            what,
            size,
            median([one[position] for one in rounds]) * 1e6,
            median([one[position] / one[0] for one in rounds]),
            math.log(size) / math.log(sizes[0]),
        )
        for position, size in enumerate(sizes)
    ]


def _seconds(decision: Callable[[], object], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        decision()
    return (time.perf_counter() - began) / repeats


def bytes_per_pod(pods: int) -> float:
    """Return what a pod in state takes, with its place in every index."""
    note(f"memory of {pods:,} pods")
    crowd.state(crowd.REPLICAS)  # what is made once for all is none of theirs
    gc.collect()
    tracemalloc.start()
    kept = crowd.state(pods)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept[1]) == pods
    return used / pods


def run(nodes: Sequence[int] = NODES, pods: Sequence[int] = PODS) -> tuple[str, bool]:
    """Measure everything; returns the text and whether all aims were met."""
    # First, while tables that all share are small: one that grows meanwhile would be counted.
    memory = [(size, bytes_per_pod(size)) for size in pods]
    figures = [
        *times("verdict, nodes", nodes, verdict_in),
        *times("release, pods in state", pods, release_in),
    ]
    clear()
    lines = [f"{'decision':24}{'size':>9}{'µs':>9}{'times':>8}{'allowed':>9}"]
    lines += [
        f"{f.what:24}{f.size:>9,}{f.micros:>9.1f}{f.times:>8.2f}{f.allowed:>9.2f}"
        f"{'' if f.met else '  NOT met'}"
        for f in figures
    ]
    lines.append(f"{'memory':24}{'pods':>9}{'bytes a pod':>17}{'allowed':>9}")
    lines += [
        f"{'':24}{size:>9,}{used:>17.0f}{MOST_BYTES:>9,}{'' if used < MOST_BYTES else '  NOT met'}"
        for size, used in memory
    ]
    met = all(f.met for f in figures) and all(used < MOST_BYTES for _, used in memory)
    return "\n".join(lines), met


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure verdicts and releases with 10 to 5,000 nodes and 100 to 100,000 pods in state."""
    text, met = run()
    click.echo(text)
    click.echo(
        f"no faster than the logarithm, and under 1 KiB a pod: {'met' if met else 'NOT met'}"
    )


if __name__ == "__main__":
    main()
