"""Whether a scenario ended as its file expects. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.scenario.ledger import Counts, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.scenario.model import Expectation
    from simulator.scenario.player import Outcome


def disappointments(expected: Iterable[Expectation], outcome: Outcome) -> Iterator[str]:
    """Yield a sentence for everything that is otherwise than expected."""
    yield from outcome.surprises
    for one in expected:
        about, counts = _found(one, outcome)
        if counts is None:
            yield f"{about}: it made no pods; is it the one that was meant?"
            continue
        for name, wanted in one.amounts().items():
            have = getattr(counts, name)
            if have not in wanted:
                yield f"{about}: {name} is {have}, expected {wanted}"


def _found(expected: Expectation, outcome: Outcome) -> tuple[str, Counts | None]:
    if expected.workload is None:
        reasons = outcome.nodes.get(expected.node or "")
        return f"node/{expected.node}", Counts(rejected=reasons.total() if reasons else 0)
    resource, name = expected.workload
    namespace = expected.namespace
    workload = Workload(resource.kind, namespace, name)
    counts = outcome.workloads.get(workload)
    if counts is None and expected.created is not None:
        counts = Counts()  # none may be what is wanted
    return str(workload), counts
