"""What a credential adds to its user: the id that stands in userInfo.extra. Pure.

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


def shown(user: User) -> Object:
    """Give what is known of a user besides name, uid and groups."""
    return {_KEY: [user.credential]} if user.credential else {}
