"""A throw-away certificate for the servers under measurement."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from certs.authority import make_authority
from certs.serving import make_leaf


@dataclass(frozen=True)
class Certificate:
    """Where a certificate, with its authority behind it, and its key are, both PEM."""

    certificate: Path
    key: Path


def make_certificate(directory: Path) -> Certificate:
    """Write an EC P-256 certificate for 127.0.0.1, good for a day."""
    now, life = datetime.now(UTC), timedelta(days=1)
    authority = make_authority(now, life)
    leaf = make_leaf(authority, ("127.0.0.1",), now, life)
    made = Certificate(directory / "tls.crt", directory / "tls.key")
    made.certificate.write_bytes(leaf.certificate + authority.certificate)
    made.key.touch(mode=0o600)
    made.key.write_bytes(leaf.key)
    return made


def client_context(certificate: Path) -> ssl.SSLContext:
    """Return a client's context that trusts `certificate` and speaks TLS 1.3 only.

    As the API server does, it asks for HTTP/1.1: all servers then do the same work.
    """
    context = ssl.create_default_context(cafile=str(certificate))
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])
    return context
