"""What people write: the policy file and the annotations on pods and namespaces.

Strict: an unknown or wrong value gets one message that names its place and the allowed values, and
all problems are told at once. The file is refused; an annotation falls back to the next level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Struct
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

from evencore.domain import names
from evencore.domain.quantity import format_millis, parse_millis
from evencore.domain.text import one_of, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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


_DURATION = re.compile(r"(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,6})s)?")


def _duration(value: object) -> object:
    """Read a duration as Kubernetes writes it: 90s, 2m, 1h30m."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if match is None:
        raise ValueError("write a duration such as 90s, 2m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _written(duration: timedelta) -> str:
    return f"{duration.total_seconds():g}s"


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


class PodPolicy(Struct, frozen=True, gc=False):
    """What holds for one pod: its annotations over its namespace's over the file."""

    cpu: CpuMode
    topology: TopologyMode
    on_rejection: OnRejection
    cpu_of: Mapping[str, CpuMode] = MappingProxyType({})
    warnings: tuple[str, ...] = ()

    def cpu_mode(self, container: str) -> CpuMode:
        """Return what to do with the CPU of one container."""
        return self.cpu_of.get(container, self.cpu)

    def keeps_all(self, containers: Iterable[str]) -> bool:
        """Tell whether the CPU of every container is to be left alone."""
        if self.cpu is not CpuMode.KEEP and not self.cpu_of:
            return False
        return all(self.cpu_mode(name) is CpuMode.KEEP for name in containers)


def policy_for(
    policy: Policy,
    pod: Mapping[str, str],
    namespace: Mapping[str, str],
    containers: Collection[str],
) -> PodPolicy:
    """Lay a pod's annotations over its namespace's over the policy.

    A wrong value is passed over, with a warning that names it and what is allowed. An annotation
    for one container goes before one for all, on the same object.
    """
    result = PodPolicy(policy.cpu, policy.topology, policy.on_rejection)
    known = frozenset(containers)
    for place, written in (("namespace annotation", namespace), ("annotation", pod)):
        ours = [key for key in written if key.startswith(names.PREFIX)]
        if ours:
            result = _overlay(result, {key: written[key] for key in ours}, place, known)
    return result


_NOT_WRITTEN_BY_PEOPLE = frozenset({names.ORIGINAL_CPU, names.DECISION})
# And one for each container.
_KNOWN = {
    key: key.removeprefix(names.PREFIX) for key in (names.CPU, names.TOPOLOGY, names.ON_REJECTION)
}
_ALL_KNOWN = ", ".join(_KNOWN)

E = TypeVar("E", bound=StrEnum)


def _overlay(
    below: PodPolicy, ours: Mapping[str, str], place: str, containers: frozenset[str]
) -> PodPolicy:
    warnings = list(below.warnings)

    def chosen(key: str, modes: type[E]) -> E | None:
        try:
            return modes(ours[key]) if key in ours else None
        except ValueError:
            warnings.append(f"{place} {key}: {quoted(ours[key])} is not {one_of(modes)}; ignored")
            return None

    cpu = chosen(names.CPU, CpuMode)
    # What the pod says of all its containers goes before what the namespace says of one.
    cpu_of = dict(below.cpu_of) if cpu is None else {}
    topology = chosen(names.TOPOLOGY, TopologyMode)
    on_rejection = chosen(names.ON_REJECTION, OnRejection)
    for key in sorted(ours.keys() - _NOT_WRITTEN_BY_PEOPLE):
        if key.startswith(names.CPU_OF_CONTAINER):
            name = key.removeprefix(names.CPU_OF_CONTAINER)
            mode = chosen(key, CpuMode)
            if name in containers:
                cpu_of |= {name: mode} if mode else {}
            elif place == "annotation":
                warnings.append(f"{place} {key}: the pod has no container {quoted(name)}; ignored")
        elif key not in _KNOWN:
            near = get_close_matches(key.removeprefix(names.PREFIX), _KNOWN.values(), n=1)
            hint = f"did you mean {names.PREFIX}{near[0]}?" if near else f"known: {_ALL_KNOWN}"
            warnings.append(f"{place} {quoted(key)} is unknown; {hint}")
    return PodPolicy(
        cpu or below.cpu,
        topology or below.topology,
        on_rejection or below.on_rejection,
        cpu_of,
        tuple(warnings),
    )
