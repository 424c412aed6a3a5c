"""From the bytes of a Secret or a caBundle to facts, tolerant to anything that may be in there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from certs.bundle import ordered
from certs.facts import BACKDATED, ORGANISATION, Certificate, Held, Leaf
from certs.pem import AUTHORITIES, AUTHORITY_KEY, CERTIFICATE, KEY, blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

# What the library raises for what is no key: the last for one that needs a password.
_NO_KEY: Final = (ValueError, UnsupportedAlgorithm, TypeError)
_NO_SIGNATURE: Final = (InvalidSignature, ValueError, TypeError, UnsupportedAlgorithm)


class Read(NamedTuple):
    """The certificates of a text, and what else is in there."""

    certificates: tuple[x509.Certificate, ...]
    problem: str = ""


def read_secret(data: Mapping[str, bytes], manager: str = "") -> Held:
    """Tell what a Secret that exists holds."""
    problems = []
    found = _blocks(data.get(AUTHORITIES, b""), AUTHORITIES)
    problems += [found.problem] if found.problem else []
    authorities = [one for one in found.certificates if _may_sign(one)]
    signing = _signing(authorities, data.get(AUTHORITY_KEY, b""))
    if isinstance(signing, str):
        problems.append(signing)
    leaf = read_leaf(data, authorities)
    if isinstance(leaf, str):
        problems.append(leaf)
    elif AUTHORITY_KEY not in data and not _ours(data[CERTIFICATE]):
        manager = manager or "whoever put a certificate of another authority there"
    facts = ordered(facts_of(one) for one in authorities)
    return Held(
        exists=True,
        authorities=facts,
        signing=None if isinstance(signing, str) else _among(facts, signing),
        leaf=None if isinstance(leaf, str) else leaf,
        problems=tuple(problems),
        manager=manager,
    )


def read_leaf(
    data: Mapping[str, bytes], authorities: Sequence[x509.Certificate] = ()
) -> Leaf | str:
    """Read a serving certificate; a sentence if it cannot be served."""
    chain, key_pem = data.get(CERTIFICATE, b""), data.get(KEY, b"")
    if not chain or not key_pem:
        return f"there is no {KEY if chain else CERTIFICATE}"
    found = _blocks(chain, CERTIFICATE)
    if found.problem or not found.certificates:
        return found.problem or f"{CERTIFICATE} holds no certificate"
    key = _key(key_pem)
    if key is None:
        return f"{KEY} is no private key in PEM without a password"
    first = found.certificates[0]
    if key.public_key() != first.public_key():
        return f"{KEY} does not belong to {CERTIFICATE}"
    signer = next((facts_of(one).fingerprint for one in authorities if _signed(first, one)), "")
    return Leaf(facts_of(first), signer, _names(first))


def read_bundle(text: bytes) -> tuple[tuple[Certificate, ...], str]:
    """Read a caBundle: the authorities in it, and what is wrong with it."""
    found = _blocks(text, "caBundle")
    return ordered(facts_of(one) for one in found.certificates), found.problem


def trusted_by(chain: bytes, bundle: Sequence[Certificate]) -> bool:
    """Tell whether anything of a chain was signed by a bundle, or is in it."""
    known = [read_x509(one) for one in bundle]
    return any(
        one in known or any(_signed(one, authority) for authority in known)
        for one in _blocks(chain, CERTIFICATE).certificates
    )


def read_x509(certificate: Certificate) -> x509.Certificate:
    """Give the whole of a certificate."""
    return x509.load_pem_x509_certificate(certificate.pem.encode())


def read_certificate(pem: bytes) -> Certificate:
    """Read a certificate of our own making. Raises ValueError for anything else."""
    return facts_of(x509.load_pem_x509_certificate(pem))


def facts_of(certificate: x509.Certificate) -> Certificate:
    """Take the facts of a certificate."""
    starts = certificate.not_valid_before_utc
    organisation = _attribute(certificate, NameOID.ORGANIZATION_NAME)
    return Certificate(
        pem=certificate.public_bytes(serialization.Encoding.PEM).decode(),
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(),
        name=_attribute(certificate, NameOID.COMMON_NAME) or certificate.subject.rfc4514_string(),
        serial=f"{certificate.serial_number:x}",
        made=starts + BACKDATED if organisation == ORGANISATION else starts,
        starts=starts,
        expires=certificate.not_valid_after_utc,
    )


def _blocks(text: bytes, where: str) -> Read:
    certificates, broken = [], 0
    for block in blocks(text):
        try:
            certificate = x509.load_pem_x509_certificate(block)
            facts_of(certificate)  # what only turns out to be broken when it is looked at
        except (ValueError, UnsupportedAlgorithm):
            broken += 1
        else:
            certificates.append(certificate)
    if text.strip() and (broken or not certificates):
        return Read(tuple(certificates), f"{where} holds something that is no certificate in PEM")
    return Read(tuple(certificates))


def _signing(authorities: Sequence[x509.Certificate], key_pem: bytes) -> x509.Certificate | str:
    """Find the authority that a key belongs to; a sentence if there is none."""
    if not key_pem:
        return f"there is no {AUTHORITY_KEY}"
    key = _key(key_pem)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return f"{AUTHORITY_KEY} is no EC private key in PEM"
    public = key.public_key()
    found = next((one for one in authorities if one.public_key() == public), None)
    return found or f"{AUTHORITY_KEY} belongs to no authority in {AUTHORITIES}"


def _key(pem: bytes) -> PrivateKeyTypes | None:
    try:
        return serialization.load_pem_private_key(pem, None)
    except _NO_KEY:
        return None


def _signed(leaf: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except _NO_SIGNATURE:
        return False
    return True


def _may_sign(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def _ours(chain: bytes) -> bool:
    first, *_ = _blocks(chain, CERTIFICATE).certificates
    return _attribute(first, NameOID.ORGANIZATION_NAME) == ORGANISATION


def _names(certificate: x509.Certificate) -> frozenset[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return frozenset()
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    return frozenset((*names.get_values_for_type(x509.DNSName), *addresses))


def _attribute(certificate: x509.Certificate, kind: x509.ObjectIdentifier) -> str:
    return next((str(one.value) for one in certificate.subject.get_attributes_for_oid(kind)), "")


def _among(facts: Sequence[Certificate], wanted: x509.Certificate) -> Certificate | None:
    fingerprint = wanted.fingerprint(hashes.SHA256()).hex()
    return next((one for one in facts if one.fingerprint == fingerprint), None)
