"""Making a certificate authority: an EC P-256 key and a certificate that it signed itself.

Not for: when one is needed (`rotation`) and where it is kept (`keeper`).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from certs.facts import BACKDATED, ORGANISATION
from certs.pem import Pair

if TYPE_CHECKING:
    from datetime import datetime, timedelta


def make_authority(now: datetime, life: timedelta) -> Pair:
    """Make an authority that may sign serving certificates and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    # Names differ, so that who verifies never takes one authority for the other.
    name = subject(f"evencore webhook authority {now:%Y-%m-%d} {secrets.token_hex(3)}")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        begun(name, name, key, now, now + life)
        # path_length 0: no authority below this one.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(signs=True), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key))


def subject(common_name: str) -> x509.Name:
    """Make a subject of ours."""
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANISATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def begun(
    owner: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    expires: datetime,
) -> x509.CertificateBuilder:
    """Begin a certificate with what every one has."""
    return (
        x509.CertificateBuilder()
        .subject_name(owner)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(expires)
    )


def usage(*, signs: bool) -> x509.KeyUsage:
    """Say what a key is for: signing certificates, or proving who a server is (RFC 5280)."""
    return x509.KeyUsage(
        key_cert_sign=signs,
        crl_sign=signs,
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Write a private key as PEM, unencrypted: it goes into a Secret."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
