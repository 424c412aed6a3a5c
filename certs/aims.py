"""How certificates should be: what people may set, with what cannot go together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Aims:
    """How it should be. Raises ValueError with every contradiction."""

    names: frozenset[str]
    """DNS names and IP addresses by which the webhook is called."""
    authority_life: timedelta = timedelta(days=365)
    leaf_life: timedelta = timedelta(days=30)
    """Each is renewed at two thirds of it."""
    spread: timedelta = timedelta(seconds=60)
    """So long after a write every API server and every webhook has heard of it."""
    overlap: timedelta = timedelta(hours=24)
    """So long after the last certificate of an old authority it is still trusted."""

    def __post_init__(self) -> None:
        problems = []
        if not self.names:
            problems.append("names: there are none, so nobody could call the webhook")
        if self.leaf_life > self.authority_life / 3:
            problems.append(
                f"a certificate's life of {self.leaf_life} is more than a third of its "
                f"authority's, {self.authority_life}: it would be cut short by it"
            )
        if self.overlap > self.leaf_life / 2:
            problems.append(
                f"the overlap of {self.overlap} is more than half of a certificate's life, "
                f"{self.leaf_life}: an old authority would never be dropped"
            )
        if self.spread * 6 > self.leaf_life:
            problems.append(
                f"the spread of {self.spread} is more than a sixth of a certificate's life, "
                f"{self.leaf_life}: it could end before its successor is used"
            )
        if problems:
            raise ValueError("\n".join(problems))
