"""Users as they are shown to others, with the id of the credential that they showed. Pure.

Kubernetes: authentication.k8s.io's credential-id; the JTI of a service account's token, the
fingerprint of a certificate. Here nobody has either; ids are made of names and never change.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, uuid5

if TYPE_CHECKING:
    from simulator.admission.chain import User
    from simulator.objects import Object

_KEY: Final = "authentication.kubernetes.io/credential-id"


def of_token(name: str) -> str:
    """Give the id of the token that a service account shows."""
    return f"JTI={uuid5(NAMESPACE_URL, name)}"


def of_certificate(name: str) -> str:
    """Give the id of the certificate that a user shows."""
    return f"X509SHA256={hashlib.sha256(name.encode()).hexdigest()}"


def user_info(user: User) -> Object:
    """Write a user as a UserInfo; what is empty is left out."""
    return {
        "username": user.name,
        **({"uid": user.uid} if user.uid else {}),
        **({"groups": list(user.groups)} if user.groups else {}),
        **({"extra": {_KEY: [user.credential]}} if user.credential else {}),
    }
