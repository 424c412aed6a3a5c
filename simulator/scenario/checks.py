"""Mistakes of a scenario that only show between two places of its file. Pure.

For: nodes that do not exist, kubelets that are started twice, steps after the end.
Not for: what stands wrong in one place; that is `model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain.text import one_of, quoted
from simulator.resources import NODES, SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulator.scenario.model import ScenarioFile, Step
    from simulator.scenario.values import Reference

_OF_NODES: Final = ("taint", "cordon", "uncordon", "drain", "restart", "stop", "start")
_OF_OBJECTS: Final = ("scale", "label", "annotate")  # what is deleted may be gone already


def in_order(scenario: ScenarioFile) -> list[tuple[int, Step]]:
    """Give the steps, each with its place in the file, in the order in which they are done."""
    return sorted(enumerate(scenario.steps), key=lambda numbered: numbered[1].at)


def problems(scenario: ScenarioFile) -> Iterator[str]:
    """Yield a sentence for each mistake."""
    nodes = [name for one in scenario.machines().nodes for name in one.names()]
    for number, step in enumerate(scenario.steps):
        place = f"steps[{number}]"
        if step.at >= scenario.lasts:
            yield f"{place}.at: is not before the end (for)"
        for name in _nodes_of(step):
            yield from _unknown(f"{place}.{step.verb}", name, nodes)
        for reference in step.scale or ():
            if SCALE not in reference.resource.subresources:
                yield f"{place}.scale: {reference} has no replicas"
    yield from _wrong_turns(scenario)
    for number, expected in enumerate(scenario.expect):
        if expected.node is not None:
            yield from _unknown(f"expect[{number}].node", expected.node, nodes)


def _nodes_of(step: Step) -> Iterable[str]:
    given = getattr(step, step.verb)
    if step.verb in _OF_NODES:
        yield from given
    if step.verb in _OF_OBJECTS:
        references: Iterable[Reference] = given
        yield from (one.name for one in references if one.resource is NODES)


def _unknown(place: str, name: str, nodes: list[str]) -> Iterator[str]:
    if name not in nodes:
        yield f"{place}: there is no node {quoted(name)}; there is {one_of(nodes, 'and')}"


def _wrong_turns(scenario: ScenarioFile) -> Iterator[str]:
    """Yield where a kubelet is to do what it cannot do then."""
    stopped: set[str] = set()
    for number, step in in_order(scenario):
        place = f"steps[{number}].{step.verb}"
        for name in step.start or ():
            if name not in stopped:
                yield f"{place}: the kubelet of {name} was not stopped before"
        for name in (*(step.stop or ()), *(step.restart or ())):
            if name in stopped:
                yield f"{place}: the kubelet of {name} is stopped by then"
        stopped = (stopped | set(step.stop or ())) - set(step.start or ())
