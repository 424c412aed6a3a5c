"""Who asks: bearer tokens and the users they stand for.

For: telling the user of a request, and the users that service accounts are.
Not for: issuing tokens, or certificates of clients; whoever makes a cluster hands out tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simulator.admission.chain import User
from simulator.api.writes import ADMIN
from simulator.auth.credentials import of_token
from simulator.auth.rbac import SERVICE_ACCOUNT
from simulator.errors import unauthorized

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTHENTICATED: Final = "system:authenticated"
ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))

_BEARER: Final = "bearer "


def service_account(namespace: str, name: str) -> User:
    """Give the user that pods with this service account are."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    full = f"{SERVICE_ACCOUNT}:{namespace}:{name}"
    return User(full, groups, credential=of_token(full))


class Authentication:
    """Knows users by their tokens. `tokens` None: nobody has to say who they are, all are admin.

    `anonymous`: who sends no token is let in, for RBAC to decide what they may.
    """

    def __init__(self, tokens: Mapping[str, User] | None, *, anonymous: bool) -> None:
        self._tokens, self._anonymous = tokens, anonymous

    def user(self, headers: Mapping[str, str]) -> User:
        """Tell who asks. Raises a 401."""
        if self._tokens is None:
            return ADMIN
        header = headers.get("authorization", "")
        token = header[len(_BEARER) :].strip() if header.lower().startswith(_BEARER) else ""
        if not token and self._anonymous:
            return ANONYMOUS
        user = self._tokens.get(token)
        if user is None:
            raise unauthorized()
        if AUTHENTICATED in user.groups:
            return user
        return replace(user, groups=(*user.groups, AUTHENTICATED))
