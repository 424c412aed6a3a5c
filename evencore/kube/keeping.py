"""What is kept of a node: what decisions look at, and each text once.

Thousands of nodes have the same labels: of 5,000 with 15 each, the texts alone are 10 MiB.
Not for: failed pods and Events (`domain.brief`).
"""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, Final

from evencore.domain import names
from evencore.domain.views import Metadata, NodeView

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANNOTATIONS: Final = (names.NODE_TOPOLOGY, names.ROOM_SINCE)


def kept_node(node: NodeView) -> NodeView:
    """Keep of a node what tells of its topology and its age, and its labels."""
    meta = node.metadata
    if meta is None:
        return node
    found = meta.annotations or {}
    return NodeView(
        Metadata(
            name=meta.name,
            labels=shared(meta.labels, meta.name or "") if meta.labels else None,
            annotations={key: found[key] for key in _ANNOTATIONS if key in found} or None,
            creation_timestamp=meta.creation_timestamp,
        )
    )


def shared(labels: Mapping[str, str], name: str) -> dict[str, str]:
    """Return equal labels whose texts are those of all other objects; `name`: of this one.

    An interned text goes when nobody has it any more. Names are not interned: they are nobody
    else's, and the table would be as large as they are.
    """
    return {intern(key): name if value == name else intern(value) for key, value in labels.items()}
