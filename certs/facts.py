"""What the plan looks at: certificates, the Secret that holds them, the hooks that trust them.

Values only. `reading` makes them from bytes, `rotation` decides on them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

ORGANISATION: Final = "evencore"
"""In the subject of every certificate of ours."""

PLACEHOLDER: Final = "evencore placeholder"
"""The common name of what is served before there is a certificate."""

BACKDATED: Final = timedelta(hours=2)
"""Our certificates begin so long before they are made: clocks differ, and jump."""


class Certificate(NamedTuple):
    """A certificate; all times are aware."""

    pem: str  # one block, as we write it
    fingerprint: str  # SHA-256 of the DER form, hexadecimal
    name: str
    serial: str
    made: datetime  # for one of ours its beginning is BACKDATED before
    starts: datetime
    expires: datetime

    @property
    def renewal(self) -> datetime:
        """Two thirds of its life: from then on there should be a newer one."""
        return self.made + (self.expires - self.made) * 2 / 3

    def out_of_time(self, now: datetime) -> str:
        """Say why it is not valid at this moment; empty if it is."""
        if now >= self.expires:
            return f"has expired, {stamp(self.expires)}"
        if now < self.starts:
            return f"begins only at {stamp(self.starts)}; a clock was or is wrong"
        return ""


class Leaf(NamedTuple):
    """A serving certificate whose key is there too."""

    certificate: Certificate
    signer: str  # fingerprint of the authority, of those beside it, that signed it; empty: none
    names: frozenset[str]


class Held(NamedTuple):
    """What is in the Secret."""

    exists: bool = False
    authorities: tuple[Certificate, ...] = ()  # to be trusted; sorted by fingerprint
    signing: Certificate | None = None  # the one of them whose key is there
    leaf: Leaf | None = None
    problems: tuple[str, ...] = ()  # what is there and of no use, a sentence each
    manager: str = ""  # who else looks after this Secret

    @property
    def old(self) -> tuple[Certificate, ...]:
        """The authorities that sign no more."""
        return tuple(one for one in self.authorities if one is not self.signing)


class Hook(NamedTuple):
    """One entry of the webhook configuration, and whom the API server trusts when it calls it."""

    name: str
    trusted: tuple[Certificate, ...] = ()
    problem: str = ""  # of its caBundle


class Published(NamedTuple):
    """The webhook configuration."""

    exists: bool = False
    hooks: tuple[Hook, ...] = ()
    injector: str = ""  # the annotation by which somebody else fills in caBundle


def stamp(moment: datetime) -> str:
    """Write a moment for people, to the second."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")
