"""What the keeper needs of a cluster. `evencore.kube` fulfils it by shape, without importing this.

Nothing here raises for what a server or a network can do: it is told in a sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Answer(Protocol):
    """What became of a write."""

    @property
    def problem(self) -> str:
        """Why it was not done; empty: it was."""

    @property
    def raced(self) -> bool:
        """Whether somebody else was faster: read again, and decide anew."""


class Stored(Protocol):
    """An object as it was read."""

    @property
    def problem(self) -> str:
        """Why it could not be read; empty: it was, even if there is none."""

    @property
    def uid(self) -> str:
        """Empty: there is no such object."""

    @property
    def version(self) -> str:
        """Its resourceVersion."""


class StoredSecret(Stored, Protocol):
    """A Secret as it was read."""

    @property
    def data(self) -> Mapping[str, bytes]:
        """What it holds, decoded."""

    @property
    def manager(self) -> str:
        """Who else looks after it, in words; empty: nobody that we know."""


class Entry(Protocol):
    """One hook of the configuration."""

    @property
    def name(self) -> str:
        """Its name, which is its key."""

    @property
    def ca_bundle(self) -> bytes:
        """PEM, decoded from base64; empty: none."""

    @property
    def selector(self) -> str:
        """Which namespaces it is asked about, whoever wrote that; as people write selectors."""


class StoredHooks(Stored, Protocol):
    """The webhook configuration as it was read."""

    @property
    def injector(self) -> str:
        """The annotation by which somebody else fills in caBundle; empty: none."""

    @property
    def entries(self) -> Sequence[Entry]:
        """Its hooks."""


class Secrets(Protocol):
    """The one Secret."""

    def read(self) -> StoredSecret:
        """Read it."""

    def create(self, data: Mapping[str, bytes]) -> Answer:
        """Make it, if there is none."""

    def update(self, uid: str, version: str, data: Mapping[str, bytes]) -> Answer:
        """Set these keys and leave all others, if it is still as it was read."""


class Bundles(Protocol):
    """The one webhook configuration."""

    def read(self) -> StoredHooks:
        """Read it."""

    def write(self, found: StoredHooks, hooks: frozenset[str], bundle: bytes) -> Answer:
        """Set caBundle of these hooks, and nothing else, if all is still as it was read."""


class Tell(Protocol):
    """Tells people, by an Event on the Secret."""

    def __call__(self, uid: str, reason: str, message: str, *, warning: bool = False) -> None:
        """`uid`: of the Secret, empty if there is none."""
