"""Acting as somebody else: `kubectl --as`, for those who may.

For: reading the headers, and what one must be allowed for it. Pure.
Not for: uids and extra fields of users; RBAC does not look at them.

Kubernetes rule: WithImpersonation of k8s.io/apiserver. Whoever acts as a service account gets its
groups, unless others are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simulator.admission.chain import User
from simulator.auth.asked import Asked
from simulator.auth.authentication import ANONYMOUS, AUTHENTICATED, service_account
from simulator.auth.rbac import SERVICE_ACCOUNT
from simulator.errors import bad_request

if TYPE_CHECKING:
    from collections.abc import Mapping

_USER: Final = "impersonate-user"
_GROUP: Final = "impersonate-group"


class Impersonation(NamedTuple):
    """Whom a client wants to act as, and what it must be allowed for that."""

    user: User
    needs: tuple[Asked, ...]


def wanted(headers: Mapping[str, str]) -> Impersonation | None:
    """Read the headers; None: the client acts as itself. Raises a 400."""
    name = headers.get(_USER, "")
    groups = tuple(one.strip() for one in headers.get(_GROUP, "").split(",") if one.strip())
    if not name:
        if groups:
            raise bad_request("requested groups without impersonating a user: name one, too")
        return None
    needs = [Asked("impersonate", resource="groups", name=group) for group in groups]
    namespace, _, account = name.removeprefix(f"{SERVICE_ACCOUNT}:").partition(":")
    if name.startswith(f"{SERVICE_ACCOUNT}:") and account:
        needs.insert(0, Asked("impersonate", "", "serviceaccounts", "", namespace, account))
        groups = groups or service_account(namespace, account).groups
    else:
        needs.insert(0, Asked("impersonate", resource="users", name=name))
    if name != ANONYMOUS.name and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return Impersonation(User(name, groups), tuple(needs))
