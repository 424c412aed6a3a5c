"""One node as it stands: what its kubelet would say to a pod, next to those that run there.

Every way in which the node may be set up (`knowledge`) is a kubelet of its own here, with its own
books. An answer that all give is certain; else it is `Unsure`, with what it hangs on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evencore.domain.text import count, one_of
from evencore.standing.verdicts import Admitted, Refused, Unsure, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evencore.standing.asked import Asked
    from evencore.standing.books import Book
    from evencore.standing.knowledge import Known


class Branch(NamedTuple):
    """One way in which the node may be, in words, and the books that are kept for it."""

    chosen: tuple[str, ...]
    book: Book


@dataclass(slots=True)
class Standing:
    """A node with its pods."""

    name: str
    known: Known
    branches: Sequence[Branch]
    doubt: str = ""  # why it is not known which CPUs its pods have
    notes: tuple[str, ...] = ()  # what was assumed of it

    def admit(self, asked: Asked) -> Verdict:
        """Ask about a new pod, which then runs wherever it may."""
        answers = [branch.book.admit(asked.pod) for branch in self.branches]
        why = self._not_known(asked)
        return Unsure(why) if why else self._common(answers)

    def ask(self, asked: Asked) -> Verdict:
        """Ask about a new pod, and leave everything as it is."""
        verdict = self.admit(asked)
        self.remove(asked)
        return verdict

    def remove(self, asked: Asked) -> None:
        """Let a pod end."""
        for branch in self.branches:
            branch.book.remove(asked.pod)

    def free(self) -> dict[int, int] | None:
        """Count CPUs of whole free cores by NUMA node; None: not the same in every way."""
        if self.doubt or not self.branches:
            return None
        first, *others = (branch.book.free_whole() for branch in self.branches)
        return first if all(one == first for one in others) else None

    def _not_known(self, asked: Asked) -> str:
        """Say why nothing is certain whatever the books say; "" if it is."""
        if not self.branches:
            return self.known.unknown
        if self.doubt and asked.cpu_of:
            return self.doubt
        lenient = self.known.policy in ("none", "best-effort")
        if asked.devices and not lenient and len(self.branches[0].book.machine.numas) > 1:
            return f"it asks for {asked.devices[0]}, and nobody tells on which NUMA nodes that is"
        return ""

    def _common(self, answers: Sequence[Admitted | Refused]) -> Verdict:
        """Sum up what the kubelet says in each way."""
        first = answers[0]
        said = [one.reason if isinstance(one, Refused) else "admitted" for one in answers]
        if len(set(said)) == 1:
            if isinstance(first, Refused) or all(one == first for one in answers):
                return first
            same = all(isinstance(one, Admitted) and one.numa == first.numa for one in answers)
            return Admitted(first.numa if same else {}, None)
        ways: dict[str, list[str]] = {}
        for word, branch in zip(said, self.branches, strict=True):
            ways.setdefault(word, []).append(", ".join(branch.chosen))
        parts = (f"{word} {_ways(chosen)}" for word, chosen in ways.items())
        return Unsure(f"nobody tells {one_of(self.known.open, last='and')}: {'; '.join(parts)}")


def _ways(chosen: list[str]) -> str:
    more = f" and {count(len(chosen) - 1, 'more way')}" if len(chosen) > 1 else ""
    return f"({chosen[0]}{more})"
