"""The policy file: what holds for pods and namespaces that say nothing themselves.

Strict: an unknown or wrong value gets one message that names its place and the allowed values, all
problems are told at once, and the file is refused.
"""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from evencore.domain.quantity import format_millis, parse_millis
from evencore.domain.text import one_of, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

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


_DURATION = re.compile(
    r"(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m(?!s))?(?:([0-9]{1,6})s)?(?:([0-9]{1,6})ms)?"
)


def _duration(value: object) -> object:
    """Read a duration as Kubernetes writes it: 90s, 2m, 1h30m, 500ms."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if match is None:
        raise ValueError("write a duration such as 90s, 2m or 1h30m")
    hours, minutes, seconds, millis = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds, milliseconds=millis)


def _written(duration: timedelta) -> str:
    seconds, rest = divmod(duration, timedelta(seconds=1))
    millis = rest // timedelta(milliseconds=1)
    return f"{seconds}s{millis}ms" if millis else f"{seconds}s"


Duration = Annotated[timedelta, BeforeValidator(_duration), PlainSerializer(_written)]
CpuMillis = Annotated[int, BeforeValidator(parse_millis), PlainSerializer(format_millis)]


def _width(value: object) -> object:
    if type(value) is not int or value not in WIDTHS:
        raise ValueError(f"must be {one_of(WIDTHS)}")
    return value


Width = Annotated[int, BeforeValidator(_width)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


class Exclusions(_Strict):
    """How long a node that rejected pods of an owner is kept from its next pods (rung 3)."""

    # The first rejection counts for `initial`; each further one on that node doubles it.
    initial: Duration = timedelta(minutes=2)
    maximum: Duration = timedelta(minutes=15)

    @model_validator(mode="after")
    def _ordered(self) -> Exclusions:
        if self.initial > self.maximum:
            raise ValueError(
                f"initial ({_written(self.initial)}) is above maximum ({_written(self.maximum)})"
            )
        return self


class Holds(_Strict):
    """When an owner's next pods are held by a scheduling gate, and let go again (rung 4)."""

    # So many rejections ...
    after: Annotated[int, Field(ge=1, le=10)] = 3
    # ... or, for a Job, so many: each one uses up its backoffLimit ...
    after_for_jobs: Annotated[int, Field(ge=1, le=10)] = 1
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

    @model_validator(mode="after")
    def _ordered(self) -> Holds:
        if self.first_release > self.slowest_release:
            raise ValueError(
                f"firstRelease ({_written(self.first_release)}) is above "
                f"slowestRelease ({_written(self.slowest_release)})"
            )
        return self

    def of(self, kind: str) -> Holds:
        """Return what holds for the pods of owners of this kind.

        A trial that fails costs a Job one of its backoffLimit, so hope that is made of time alone
        comes late: with trials after 10 s, 20 s, ... it would end as early as if nobody held it.
        """
        if kind != "Job":
            return self
        return self.model_copy(update={"first_release": self.slowest_release})


class Rejections(_Strict):
    """Which rejections count, and how many rejected pods are kept for people to read."""

    # Rejections so soon after the start of a node's kubelet tell nothing about its room.
    after_kubelet_start: Duration = timedelta(minutes=2)
    # Rejected pods of an owner that are never cleaned up: the newest so many.
    keep: Annotated[int, Field(ge=0, le=100)] = 3


class Policy(_Strict):
    """The policy file: defaults for pods and namespaces that say nothing themselves."""

    cpu: CpuMode = CpuMode.ROUND_UP
    # `off` without quotes is false in YAML.
    topology: Annotated[TopologyMode, BeforeValidator(lambda v: "off" if v is False else v)] = (
        TopologyMode.REQUIRED
    )
    on_rejection: OnRejection = OnRejection.HOLD
    # Logical CPUs per core where no node that the pod may use is known.
    default_threads_per_core: Width = 2
    # Containers that ask for less CPU than this are left alone: rounding 100m up to 2 is costly.
    # A quantity; kept in thousandths.
    round_from: CpuMillis = 0
    # Namespaces that never take part, whatever their labels say.
    ignored_namespaces: frozenset[str] = frozenset({"kube-system", "evencore-system"})
    exclusions: Exclusions = Field(default_factory=Exclusions)
    holds: Holds = Field(default_factory=Holds)
    rejections: Rejections = Field(default_factory=Rejections)

    @classmethod
    def from_mapping(cls, value: object, source: str = "policy") -> Policy:
        """Read a policy file; raises PolicyError with every problem and its place."""
        return checked(cls, value, source)

    def as_written(self) -> dict[str, Any]:
        """Return the policy as a policy file would say it, defaults included."""
        return self.model_dump(mode="json", by_alias=True)


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], value: object, source: str) -> M:
    """Validate what a person wrote; raises PolicyError that names all wrong places at once."""
    if value is None:
        value = {}
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise PolicyError(source, [_problem(model, item) for item in error.errors()]) from error


def _problem(model: type[BaseModel], error: Any) -> str:  # noqa: ANN401  pydantic's ErrorDetails, as dict
    way = error["loc"]
    place = ".".join(str(part) for part in way)
    if error["type"] == "extra_forbidden":
        return f"{place}: unknown; allowed here: {_keys(model, way[:-1])}"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if error["type"] == "model_type":
        message = f"must be a map with any of {_keys(model, way)}"
    if error["type"] == "frozen_set_type":
        message = "must be a list"
    shown = quoted(error["input"])
    # A map as a whole would be long; what is wrong in it was said.
    if not message.startswith(shown) and not isinstance(error["input"], dict):
        message += f", not {shown}"
    return f"{place}: {message}" if place else message


def _keys(model: Any, way: Sequence[int | str]) -> str:  # noqa: ANN401  a class of ours; mypy cannot follow annotations
    """List what may stand in the map to which `way` leads."""
    for part in way:
        model = next(f.annotation for f in model.model_fields.values() if f.alias == part)
    return ", ".join(sorted(f.alias or name for name, f in model.model_fields.items()))
