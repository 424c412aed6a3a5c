"""A certificate authority and a serving certificate for loopback, made anew at each start."""

from __future__ import annotations

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from certs.authority import make_authority
from certs.serving import make_leaf

_LIFE: Final = timedelta(days=365)
_NAMES: Final = ("localhost", "127.0.0.1")


class Identity(NamedTuple):
    """What a server shows, and the authority by which clients know it."""

    ca: str
    context: ssl.SSLContext


class Issued(NamedTuple):
    """An authority's certificate, a certificate of it, and that one's key; all PEM."""

    ca: str
    certificate: str
    key: str


def make() -> Identity:
    """Make an authority, and the context of a server with a certificate of it."""
    issued = issue()
    return Identity(issued.ca, _context(issued))


def issue() -> Issued:
    """Make an authority, and a certificate of it for this machine's loopback."""
    now = datetime.now(UTC)
    authority = make_authority(now, _LIFE)
    leaf = make_leaf(authority, _NAMES, now, _LIFE)
    return Issued(authority.certificate.decode(), leaf.certificate.decode(), leaf.key.decode())


def _context(issued: Issued) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    # The ssl module reads keys from files only; this one is gone before anybody could ask for it.
    with tempfile.NamedTemporaryFile() as file:
        file.write((issued.key + issued.certificate).encode())
        file.flush()
        context.load_cert_chain(Path(file.name))
    return context
