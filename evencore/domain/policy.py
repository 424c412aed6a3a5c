"""The policy file: what holds for pods and namespaces that say nothing themselves.

Strict: an unknown or wrong value gets one message that names its place and the allowed values, all
problems are told at once, and the file is refused.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import structs

from evencore.domain.forms import CPU, DURATION, TEXT, choice, in_seconds, listed, whole
from evencore.domain.written import Clash, Form, Written, read

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTHS = (1, 2, 4, 8)  # threads per core that exist; anything else is a mistake


class CpuMode(StrEnum):
    """What to do with a CPU request that is not a whole number of cores."""

    ROUND_UP = "round-up"
    WARN = "warn"
    DENY = "deny"
    KEEP = "keep"


class TopologyMode(StrEnum):
    """How to keep pods off nodes that can never align them (rung 2)."""

    REQUIRED = "required"
    PREFERRED = "preferred"
    OFF = "off"


class OnRejection(StrEnum):
    """The highest rung to use when kubelets reject pods of an owner."""

    HOLD = "hold"
    EXCLUDE = "exclude"
    REPORT = "report"


class PolicyError(ValueError):
    """A file that people wrote and that is wrong; `problems` has a sentence for each place."""

    def __init__(self, source: str, problems: list[str]) -> None:
        super().__init__("\n".join(f"{source}: {problem}" for problem in problems))
        self.problems = problems


Duration = Annotated[timedelta, DURATION]
Width = Annotated[int, choice(*WIDTHS)]
Few = Annotated[int, whole(1, 10)]
_MODES = choice(*TopologyMode)
# `off` without quotes is false in YAML.
_TOPOLOGY = Form(lambda value: _MODES.read("off" if value is False else value), _MODES.write)


class Exclusions(Written, frozen=True, rename="camel"):
    """How long a node that rejected pods of an owner is kept from its next pods (rung 3)."""

    # The first rejection counts for `initial`; each further one on that node doubles it.
    initial: Duration = timedelta(minutes=2)
    maximum: Duration = timedelta(minutes=15)

    def clashes(self) -> Iterator[Clash]:
        """Tell if the first time is longer than any may be."""
        if self.initial > self.maximum:
            yield Clash(
                f"initial ({in_seconds(self.initial)}) is above "
                f"maximum ({in_seconds(self.maximum)})",
                ("initial", "maximum"),
            )


class Holds(Written, frozen=True, rename="camel"):
    """When an owner's next pods are held by a scheduling gate, and let go again (rung 4)."""

    # So many rejections ...
    after: Few = 3
    # ... or, for a Job, so many: each one uses up its backoffLimit ...
    after_for_jobs: Few = 1
    # ... within this time.
    within: Duration = timedelta(minutes=10)
    # Pods are let go this long after the newest rejection, the first time; then it doubles ...
    first_release: Duration = timedelta(seconds=10)
    # ... up to this, which is when a Job's are tried at all,
    slowest_release: Duration = timedelta(minutes=15)
    # or, where room has appeared since, up to this.
    release_with_room: Duration = timedelta(seconds=30)
    # No pod is held longer.
    longest: Duration = timedelta(minutes=15)

    def clashes(self) -> Iterator[Clash]:
        """Tell if releases would slow down to a faster pace."""
        if self.first_release > self.slowest_release:
            yield Clash(
                f"firstRelease ({in_seconds(self.first_release)}) is above "
                f"slowestRelease ({in_seconds(self.slowest_release)})",
                ("first_release", "slowest_release"),
            )

    def of(self, kind: str) -> Holds:
        """Return what holds for the pods of owners of this kind.

        A trial that fails costs a Job one of its backoffLimit, so hope that is made of time alone
        comes late: with trials after 10 s, 20 s, ... it would end as early as if nobody held it.
        """
        if kind != "Job":
            return self
        return structs.replace(self, first_release=self.slowest_release)


class Rejections(Written, frozen=True, rename="camel"):
    """Which rejections count, and how many rejected pods are kept for people to read."""

    # Rejections so soon after the start of a node's kubelet tell nothing about its room.
    after_kubelet_start: Duration = timedelta(minutes=2)
    # Rejected pods of an owner that are never cleaned up: the newest so many.
    keep: Annotated[int, whole(0, 100)] = 3


class Policy(Written, frozen=True, rename="camel"):
    """The policy file: defaults for pods and namespaces that say nothing themselves."""

    cpu: Annotated[CpuMode, choice(*CpuMode)] = CpuMode.ROUND_UP
    topology: Annotated[TopologyMode, _TOPOLOGY] = TopologyMode.REQUIRED
    on_rejection: Annotated[OnRejection, choice(*OnRejection)] = OnRejection.HOLD
    # Logical CPUs per core where no node that the pod may use is known.
    default_threads_per_core: Width = 2
    # Containers that ask for less CPU than this are left alone: rounding 100m up to 2 is costly.
    # A quantity; kept in thousandths.
    round_from: Annotated[int, CPU] = 0
    # Namespaces that never take part, whatever their labels say.
    ignored_namespaces: Annotated[frozenset[str], listed(TEXT, frozenset)] = frozenset(
        {"kube-system", "evencore-system"}
    )
    exclusions: Exclusions = Exclusions()
    holds: Holds = Holds()
    rejections: Rejections = Rejections()

    @classmethod
    def from_mapping(cls, value: object, source: str = "policy") -> Policy:
        """Read a policy file; raises PolicyError with every problem and its place."""
        return checked(cls, value, source)


W = TypeVar("W", bound=Written)


def checked(kind: type[W], value: object, source: str) -> W:
    """Read what a person wrote; raises PolicyError that names all wrong places at once."""
    made, problems = read(kind, {} if value is None else value)
    if problems:
        raise PolicyError(source, [str(problem) for problem in problems])
    return made
