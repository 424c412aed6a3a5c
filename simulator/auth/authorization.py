"""The door: whether a user may, by the roles and bindings in the store as they are now.

For: one decision per request, from a `Policy` that is made again after roles or bindings changed.
Not for: controllers, scheduler and kubelets within this process; they write without asking, as if
their roles were always right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from simulator.auth.asked import refusal
from simulator.auth.rbac import ANY, Policy, Verdict
from simulator.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES

if TYPE_CHECKING:
    from simulator.admission.chain import User
    from simulator.auth.asked import Asked
    from simulator.objects import Object
    from simulator.resources import Resource
    from simulator.store.store import Store
    from simulator.store.table import Change

MASTERS: Final = "system:masters"
"""Members may everything, whatever the rules say."""


class Authorizer(Protocol):
    """Decides who may what."""

    def decide(self, user: User, asked: Asked) -> Verdict:
        """Decide about one request."""

    def rules(self, user: User, namespace: str) -> tuple[list[Object], list[str]]:
        """Give the rules that a user has in a namespace, and what was wrong with others."""


class Everything:
    """RBAC switched off: everybody may everything."""

    def decide(self, user: User, asked: Asked) -> Verdict:  # noqa: ARG002  whoever, whatever
        """Allow it."""
        return Verdict(True)

    def rules(self, user: User, namespace: str) -> tuple[list[Object], list[str]]:  # noqa: ARG002  same
        """Give the two rules that allow everything."""
        resources: Object = {"verbs": [ANY], "apiGroups": [ANY], "resources": [ANY]}
        return [resources, {"verbs": [ANY], "nonResourceURLs": [ANY]}], []


class Rbac:
    """Decides by the roles and bindings of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._policy: Policy | None = None
        for resource in (ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS):
            store.table(resource).listen(self._note)

    def decide(self, user: User, asked: Asked) -> Verdict:
        """Decide about one request."""
        return Verdict(True) if MASTERS in user.groups else self._current().decide(user, asked)

    def rules(self, user: User, namespace: str) -> tuple[list[Object], list[str]]:
        """Give the rules that a user has in a namespace, and what was wrong with others."""
        faults: list[str] = []
        granted = self._current().granted(user, namespace, faults)
        return [one.rule for one in granted], faults

    def _note(self, _: Change) -> None:
        self._policy = None

    def _current(self) -> Policy:
        if self._policy is None:
            self._policy = Policy(
                cluster_roles=self._all(CLUSTER_ROLES),
                cluster_bindings=self._all(CLUSTER_ROLE_BINDINGS),
                roles=self._all(ROLES),
                bindings=self._all(ROLE_BINDINGS),
            )
        return self._policy

    def _all(self, resource: Resource) -> list[Object]:
        return [one.object for one in self._store.table(resource).records()]


def check(authorizer: Authorizer, user: User, asked: Asked) -> None:
    """Refuse what is not allowed (403)."""
    verdict = authorizer.decide(user, asked)
    if not verdict.allowed:
        raise refusal(asked, user.name, verdict.reason)
