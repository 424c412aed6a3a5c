"""What every controller of pods listens to: its own objects, their pods, and pods without owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.controllers import pods as pod_rules
from simulator.controllers.claims import claims
from simulator.objects import controller_of
from simulator.resources import REPLICATION_CONTROLLERS
from simulator.selectors import of_label_selector

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.controllers.client import Cluster
    from simulator.objects import Key, Object
    from simulator.resources import Resource
    from simulator.selectors import Requirement


def selector_of(owner: Object) -> tuple[Requirement, ...]:
    """Give the selector of a workload; a ReplicationController's is a plain map."""
    selector = owner["spec"].get("selector")
    if owner["kind"] == REPLICATION_CONTROLLERS.kind:
        selector = {"matchLabels": selector or {}}
    return of_label_selector(selector) or ()


def follow(
    cluster: Cluster,
    resource: Resource,
    add: Callable[[Key], None],
    add_for_pod: Callable[[Key], None] | None = None,
) -> None:
    """Have the keys of a resource queued whenever they or their pods change.

    `add_for_pod`: where a change of a pod goes, if not where all others go.
    """
    add_for_pod = add_for_pod or add
    table = cluster.store.table(resource)

    def note_pod(pod: Object, before: Object | None) -> None:
        for seen in (before, pod):
            owner = controller_of(seen) if seen else None
            if owner is not None and owner["kind"] == resource.kind:
                add_for_pod((pod["metadata"]["namespace"], owner["name"]))
        if controller_of(pod) is None and pod_rules.is_active(pod):
            for record in table.records(pod["metadata"]["namespace"]):
                if claims(selector_of(record.object), (), (pod,)).adopted:
                    add_for_pod(record.key)

    for record in table.records():
        add(record.key)
    table.listen(lambda change: add(change.record.key))
    cluster.pods.listen(note_pod)
