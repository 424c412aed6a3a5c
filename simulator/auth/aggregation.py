"""ClusterRoles that are the sum of others: their rules are gathered by labels and written down.

For: `aggregated`, which is pure, and `Aggregation`, which keeps the roles of a store up to date.
Not for: deciding by rules; by then these roles are as all others.

Kubernetes rule: the clusterrole-aggregation controller. Rules come in the order of the names of
the roles they are from, each once; a role that is a sum may be part of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.objects import dig
from simulator.resources import CLUSTER_ROLES
from simulator.selectors import of_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.objects import Object
    from simulator.store.store import Store
    from simulator.store.table import Change


def aggregated(role: Object, roles: Iterable[Object]) -> list[Object]:
    """Give the rules that `role`, a sum, should have; `roles` are all there are, by name."""
    selectors = [
        of_label_selector(one) for one in dig(role, "aggregationRule", "clusterRoleSelectors") or ()
    ]
    rules: list[Object] = []
    for one in roles:
        labels = one["metadata"].get("labels") or {}
        # An empty selector picks all, none at all picks nothing.
        picked = any(
            wanted is not None and all(part.holds(labels) for part in wanted)
            for wanted in selectors
        )
        if picked and one["metadata"]["name"] != role["metadata"]["name"]:
            rules += [rule for rule in one.get("rules") or () if rule not in rules]
    return rules


class Aggregation:
    """Writes the rules of the sums again after any ClusterRole has changed."""

    def __init__(self, store: Store) -> None:
        self._store, self._table = store, store.table(CLUSTER_ROLES)
        self._due = False
        self._table.listen(self._note)

    def _note(self, _: Change) -> None:
        if not self._due:
            self._due = True
            self._store.clock.after(0, self._write)

    def _write(self) -> None:
        self._due = False
        for record in list(self._table.records()):
            role = record.object
            if not role.get("aggregationRule"):
                continue
            rules = aggregated(role, [one.object for one in self._table.records()])
            if rules != (role.get("rules") or []):
                self._store.update(CLUSTER_ROLES, *record.key, {**role, "rules": rules})
