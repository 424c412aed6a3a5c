"""What is kept of what is watched: what decisions look at, and each text once.

Thousands of nodes have the same labels: of 5,000 with 15 each, the texts alone are 10 MiB. An
interned text goes when nobody has it any more, so nothing needs to be thrown away here.
Not for: what matters of failed pods and Events, and how long it may be (`domain.brief`).
"""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import force_setattr

from evencore.domain import names
from evencore.domain.brief import brief_event, brief_pod
from evencore.domain.views import Metadata, NamespaceView, NodeView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evencore.domain.event_views import EventView
    from evencore.domain.views import FailedPodView

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


def kept_namespace(namespace: NamespaceView) -> NamespaceView:
    """Keep of a namespace whether it takes part, and what is wished for its pods."""
    meta = namespace.metadata
    if meta is None:
        return namespace
    return NamespaceView(
        Metadata(
            name=meta.name,
            labels=_ours(meta.labels),
            annotations=_ours(meta.annotations),
        )
    )


def _ours(found: Mapping[str, str] | None) -> dict[str, str] | None:
    kept = {
        intern(key): value for key, value in (found or {}).items() if key.startswith(names.PREFIX)
    }
    return kept or None


def kept_pod(pod: FailedPodView) -> FailedPodView:
    """Keep of a failed pod what its rejection needs."""
    kept = brief_pod(pod)
    _share(kept)
    return kept


def kept_event(event: EventView) -> EventView:
    """Keep of an Event what it tells of a rejection."""
    kept = brief_event(event)
    _share(kept)
    return kept


def shared(labels: Mapping[str, str], name: str) -> dict[str, str]:
    """Return equal labels whose texts are those of all other objects; `name`: of this one.

    Names are not interned: they are nobody else's, and the table would be as large as they are.
    """
    return {intern(key): name if value == name else intern(value) for key, value in labels.items()}


def _share(found: Struct) -> None:
    """Intern all texts of what has just been decoded, while nobody else has it.

    A rejected pod, its Event, and the others of its owner have nearly all of them in common.
    """
    for field in found.__struct_fields__:
        value = getattr(found, field)
        if type(value) is str:
            force_setattr(found, field, intern(value))
            continue
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, Struct):
                _share(inner)
