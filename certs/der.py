"""When a certificate ends, read from its DER form (X.690) without a library of cryptography.

For: a certificate that the TLS library takes, but does not tell of. Not for: judging one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_VALIDITY: Final = 3
"""After serial number, algorithm and issuer; before these the version, which need not be there."""

_LONG: Final = 0x80
"""In a length: so many bytes follow, which are the length."""


def ends(der: bytes) -> datetime:
    """Tell when a certificate ends (RFC 5280, 4.1.2.5). Raises ValueError for what is none."""
    try:
        (_, certificate), *_ = _parts(der)
        (_, signed), *_ = _parts(certificate)
        fields = [content for tag, content in _parts(signed) if tag != _VERSION]
        _, (tag, text) = _parts(fields[_VALIDITY])
    except IndexError as error:
        raise ValueError("it breaks off") from error
    digits = str(text, "ascii")
    if tag == _UTC_TIME:
        digits = ("20" if digits < "50" else "19") + digits
    if not digits.endswith("Z"):
        raise ValueError("its end is not in UTC")
    return datetime.fromisoformat(f"{digits[:8]}T{digits[8:]}")


def _parts(text: bytes) -> list[tuple[int, bytes]]:
    """Take a text apart into tags and contents. Raises IndexError or ValueError if it is torn.

    Enough for the beginning of a certificate: tags of one byte, lengths that are given.
    """
    found, at = [], 0
    while at < len(text):
        tag, length = text[at], text[at + 1]
        at += 2
        if length & _LONG:
            size = length ^ _LONG
            length = int.from_bytes(text[at : at + size])
            at += size
        if at + length > len(text):
            raise ValueError("it breaks off")
        found.append((tag, text[at : at + length]))
        at += length
    return found
