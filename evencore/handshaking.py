"""A TLS handshake with a webhook, verified as an API server does.

For: what is shown there and whether a bundle of authorities signed it. Sends no request.
Not for: what that means; that is `evencore.doctor`.
"""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from typing import Final, NamedTuple

PATIENCE_S: Final = 5.0

# OpenSSL's verdicts (X509_V_ERR_...): not yet or no longer valid; another host or address.
_NOT_IN_TIME: Final = (9, 10)
_OTHER_NAME: Final = (62, 64)


class Shown(NamedTuple):
    """What came of it; all is well if neither `problem` nor `unreachable`."""

    problem: str = ""  # "untrusted", "expired" or "other name"
    unreachable: bool = False
    text: str = ""
    not_before: datetime | None = None
    not_after: datetime | None = None


def shake_hands(host: str, port: int, server_name: str, bundle: str | None) -> Shown:
    """Connect to host:port; `bundle` is PEM, None: the authorities of this system."""
    try:
        context = ssl.create_default_context(cadata=bundle)
    except (ssl.SSLError, ValueError) as error:
        return Shown("untrusted", text=f"the caBundle cannot be read: {error}")
    # As Go does it: every certificate of the bundle is trusted, also one that signs nothing else,
    # and extensions that RFC 5280 wants may be missing.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    try:
        with (
            socket.create_connection((host, port), PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=server_name) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return Shown(_problem(error.verify_code), text=error.verify_message)
    except (OSError, ValueError) as error:  # the latter: a name that is none
        return Shown(unreachable=True, text=getattr(error, "strerror", None) or str(error))
    return Shown(not_before=_time(shown.get("notBefore")), not_after=_time(shown.get("notAfter")))


def _problem(code: int) -> str:
    if code in _NOT_IN_TIME:
        return "expired"
    return "other name" if code in _OTHER_NAME else "untrusted"


def _time(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC)
