"""All randomness of the pocket cluster, from one seed.

For: runs that can be repeated.
Not for: secrets; these numbers can be foretold.
"""

from __future__ import annotations

import random
from typing import Final
from uuid import UUID

# Without vowels and look-alikes, so that no word and no misreading comes out; the API
# server's own alphabet for generated names (k8s.io/apimachinery/pkg/util/rand).
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH: Final = 5


class Chance:
    """Numbers that are the same in every run with the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._own = self.stream("names")

    def stream(self, name: str) -> random.Random:
        """Make a generator for one purpose: another purpose more changes nothing for the rest."""
        return random.Random(f"{self.seed}/{name}")  # noqa: S311  repeatable on purpose

    def suffix(self) -> str:
        """Make the end of a generated name."""
        return "".join(self._own.choices(_ALPHABET, k=_LENGTH))

    def uid(self) -> str:
        """Make the uid of an object."""
        return str(UUID(int=self._own.getrandbits(128), version=4))
