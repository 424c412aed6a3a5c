"""Certificates and keys as text: what the Secret and the webhook's files hold.

Who only carries them about needs no cryptography for it, so none is imported here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
AUTHORITIES: Final = "ca.crt"
AUTHORITY_KEY: Final = "ca.key"
"""The keys of our Secret; the first three are as cert-manager names them."""

_BLOCK: Final = re.compile(rb"-----BEGIN CERTIFICATE-----\s.*?-----END CERTIFICATE-----", re.DOTALL)


class Pair(NamedTuple):
    """A certificate and its private key (PKCS #8 where we make it), both PEM."""

    certificate: bytes
    key: bytes


def blocks(text: bytes) -> list[bytes]:
    """Find what looks like certificates in a text."""
    return _BLOCK.findall(text)
