"""What is kept of the witnesses of rejections: no more than a verdict reads, of bounded size.

Whoever may create pods may write 250 KB of annotations on each and have it fail; whoever may write
Events may put a megabyte into each. A real kubelet's witness loses nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from evencore.domain.event_views import EventView
from evencore.domain.views import OwnedMetadata, Wishes

if TYPE_CHECKING:
    from evencore.domain.views import FailedPodView, OwnerReference, PodStatus

LONGEST_MESSAGE: Final = 1024
"""Characters: as much as events.k8s.io allows; what kubelets say of rejections has 200."""
LONGEST_NAME: Final = 253
"""Characters of a name, in Kubernetes. What bears a longer one does not exist."""
LONGEST_REASON: Final = 128
LONGEST_WISH: Final = 64
"""Characters of an annotation of which only certain words mean anything."""
MOST_FINALIZERS: Final = 4


def brief_pod(pod: FailedPodView) -> FailedPodView:
    """Keep of a failed pod what its rejection needs."""
    meta = pod.metadata
    if meta is None:
        return pod
    owner, wishes = pod.controller, meta.annotations
    return replace(
        pod,
        metadata=replace(
            meta,
            annotations=wishes and Wishes(*map(_wish, (wishes.on_rejection, wishes.mirror))),
            owner_references=[owner] if owner and _exists(owner) else None,
            finalizers=meta.finalizers[:MOST_FINALIZERS] if meta.finalizers else None,
        ),
        status=pod.status and _status(pod.status),
    )


def brief_event(event: EventView) -> EventView:
    """Keep of an Event what it tells of a rejection; of one that nobody could mean, nothing."""
    about, meta = event.involved_object or event.regarding, event.metadata
    source = event.source or event.deprecated_source
    named = (
        *((about.kind, about.namespace, about.name, about.uid) if about else ()),
        *((source.component, source.host) if source else ()),
        event.reporting_component,
        event.reporting_controller,
        event.reporting_instance,
        event.reason,
    )
    if any(text is not None and len(text) > LONGEST_NAME for text in named):
        return EventView()
    if meta is not None:
        if about and about.namespace and meta.namespace and about.namespace != meta.namespace:
            return EventView()  # as `events.told` does
        meta = OwnedMetadata(namespace=meta.namespace, creation_timestamp=meta.creation_timestamp)
    return replace(event, metadata=meta, message=_cut(event.message), note=_cut(event.note))


def _wish(text: str | None) -> str | None:
    return text and text[:LONGEST_WISH]


def _cut(text: str | None) -> str | None:
    return text and text[:LONGEST_MESSAGE]


def _exists(owner: OwnerReference) -> bool:
    return all(
        len(text) <= LONGEST_NAME for text in (owner.api_version, owner.kind, owner.name, owner.uid)
    )


def _status(status: PodStatus) -> PodStatus:
    reason = status.reason and status.reason[:LONGEST_REASON]
    return replace(status, reason=reason, message=_cut(status.message))
