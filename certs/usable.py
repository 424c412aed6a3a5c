"""Whether a pair can be served: the TLS library that will serve it is asked, in milliseconds.

It is the only judge that counts: what it does not take must never replace what it did. Nor does it
cost memory, for who serves has it. A library of cryptography would cost 10 MiB and the time of 100
admissions; the controller, which makes certificates, has one (`reading`).
"""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from certs.der import ends
from certs.facts import PLACEHOLDER
from certs.pem import CERTIFICATE, KEY, Pair, blocks

if TYPE_CHECKING:
    from datetime import datetime

_STRANGERS: Final = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")
"""What OpenSSL says of a key that belongs to another certificate, or to one of another kind."""

_NO_CERTIFICATE: Final = f"{CERTIFICATE} holds something that is no certificate in PEM"
_NO_KEY: Final = f"{KEY} is no private key in PEM without a password"


class Usable(NamedTuple):
    """What is to be known of a pair that can be served."""

    ends: datetime
    """Aware. Whether that is over is for clients to judge."""
    placeholder: bool


def judge(pair: Pair, place: Path) -> Usable | str:
    """Tell what a pair is, or in a sentence why it cannot be served.

    `place`: an existing directory for files that are gone when this returns, for the library reads
    nothing else. Raises OSError if they cannot be written.
    """
    if not pair.certificate or not pair.key:
        return f"there is no {KEY if pair.certificate else CERTIFICATE}"
    found = blocks(pair.certificate)
    try:
        der = ssl.PEM_cert_to_DER_cert(str(found[0], "ascii"))
        end = ends(der)
    except (IndexError, ValueError):
        return _NO_CERTIFICATE
    with tempfile.TemporaryDirectory(prefix="..judged-", dir=place) as made:
        problem = _refused(pair, Path(made))
    return problem or Usable(end, PLACEHOLDER.encode() in der)


def _refused(pair: Pair, place: Path) -> str:
    """Say why the library does not take a pair; empty: it does."""
    certificate, key = place / CERTIFICATE, place / KEY
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    try:
        # Without that function it would ask a terminal for the password of an encrypted key.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: "")
    except ssl.SSLError as error:
        if error.reason in _STRANGERS:
            return f"{KEY} does not belong to {CERTIFICATE}"
        if error.library == "SSL" and error.reason:
            # Such as ee key too small: too weak for this library's level of security.
            said = error.reason.replace("_", " ").lower()
            return f"{CERTIFICATE} is refused by OpenSSL: {said}; make another, by EC P-256"
        return _NO_KEY if _reads(certificate) else _NO_CERTIFICATE
    return ""


def _reads(certificates: Path) -> bool:
    """Tell whether a file holds certificates, and nothing that should be one."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(certificates)
    except ssl.SSLError:
        return False
    return True
