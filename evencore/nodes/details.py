"""What `evencore nodes -o wide` says below its table: what was learnt, and labels by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evencore.domain import names
from evencore.tables import BOLD, WIDTH, Pen, printable, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evencore.nodes.report import NodeReport

_INDENT: Final = "  "


def details(nodes: Sequence[NodeReport], pen: Pen) -> list[list[str]]:
    """Give the blocks that have anything to say, each under its title."""
    blocks = {
        "Learnt from rejections:": [line for one in nodes for line in _learnt(one)],
        "Labels, and why they are there:": _by_reason(
            (label.because, _short(label.key, label.value), one.facts.name)
            for one in nodes
            for label in one.labels
        ),
        "Labels that the controller would set:": _by_reason(
            (*_parts(text), one.facts.name) for one in nodes for text in one.to_label
        ),
    }
    return [[pen.paint(title, BOLD), *lines] for title, lines in blocks.items() if lines]


def _learnt(one: NodeReport) -> Iterator[str]:
    told = []
    if one.learnt.width:
        told.append(f"{one.learnt.width.width} threads per core: {one.learnt.width.sentence}")
    if one.learnt.strict:
        told.append(f"TopologyAffinityError: {one.learnt.strict.sentence}")
    for text in told:
        yield from _hanging(f"{one.facts.name}: {text}", _INDENT)


def _by_reason(labels: Iterator[tuple[str, str, str]]) -> list[str]:
    """Say each reason once, and below it each label once, with the nodes that have it."""
    found: dict[str, dict[str, list[str]]] = {}
    for because, label, node in labels:
        # The name is another one on each node; that it is there is all there is to say.
        shown = label.partition("=")[0] if because == _NAME else label
        found.setdefault(because, {}).setdefault(shown, []).append(node)
    lines: list[str] = []
    for because, by_label in found.items():
        lines += _hanging(because, _INDENT)
        for label, on in by_label.items():
            lines += _hanging(f"{label}: {', '.join(on)}", _INDENT * 2)
    return lines


_NAME: Final = "the node's name"


def _parts(text: str) -> tuple[str, str]:
    """Take apart what is to be set, as labelling tells it: key=value: reason."""
    label, _, because = text.partition(": ")
    return because, label.removeprefix(names.PREFIX)


def _short(key: str, value: str) -> str:
    return f"{key.removeprefix(names.PREFIX)}={value}"


def _hanging(text: str, indent: str) -> list[str]:
    first, *rest = wrapped(printable(text), WIDTH - len(indent) - len(_INDENT))
    return [indent + first, *(indent + _INDENT + line for line in rest)]
