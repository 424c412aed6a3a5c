"""Making a serving certificate from an authority, or one that nobody trusts, to begin with."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.authority import begun, private_pem, subject, usage
from certs.facts import PLACEHOLDER
from certs.pem import Pair

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

_NAME: Final = "evencore webhook"


def make_leaf(authority: Pair, names: Iterable[str], now: datetime, life: timedelta) -> Pair:
    """Make a serving certificate for DNS names and IP addresses; it never outlives its authority.

    Raises ValueError if the authority cannot be read, or is none of EC keys.
    """
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    issuer_key = serialization.load_pem_private_key(authority.key, None)
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        raise ValueError("the authority's key is no EC key")  # noqa: TRY004  a value in a Secret
    expires = min(now + life, issuer.not_valid_after_utc)
    return _issue(issuer.subject, issuer_key, names, now, expires)


def make_placeholder(now: datetime, life: timedelta) -> Pair:
    """Make a certificate that nobody trusts: probes do not verify, and API servers must not."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _issue(subject(PLACEHOLDER), key, ("localhost",), now, now + life, PLACEHOLDER)


def _issue(  # noqa: PLR0913, PLR0917  what a certificate is made of
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePrivateKey,
    names: Iterable[str],
    now: datetime,
    expires: datetime,
    common_name: str = _NAME,
) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    # Go looks at subjectAltName alone; the key identifier leads it to the right authority of two.
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    certificate = (
        begun(subject(common_name), issuer, key, now, expires)
        .add_extension(
            x509.SubjectAlternativeName([_general(name) for name in sorted(names)]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key))


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
