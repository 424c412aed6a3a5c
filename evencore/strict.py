"""Files that people write: strict, and every problem told at once.

For: the base of their models, and messages that name the place and what is allowed there.
Not for: reading files; `evencore.files` does it.
"""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from evencore.domain.quantity import parse_nanos
from evencore.domain.text import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class FileError(ValueError):
    """A file that is wrong; `problems` has a sentence for each place."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        super().__init__("\n".join(f"{source}: {problem}" for problem in problems))
        self.problems = tuple(problems)


class Strict(BaseModel):
    """A map in a file: unknown keys are mistakes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


def _quantity(value: object) -> str:
    """Read an amount as Kubernetes writes it; what is wrong is a ValueError that says so."""
    if parse_nanos(value) < 0:
        raise ValueError(f"{quoted(value)} is negative")
    return str(value)


Quantity = Annotated[str, BeforeValidator(_quantity)]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_KEY: Final = "[key]"  # how pydantic says that the key itself is wrong, and not its value


def beside(problems: Sequence[str], value: object, validate: Callable[[object], T]) -> T:
    """Validate; what is wrong is told together with problems of the whole that were found before.

    For validators that wrap others: behind them they would not be run if anything is wrong, and
    people would hear of `problems` a round later.
    """
    found: list[Any] = []
    try:
        made = validate(value)
    except ValidationError as error:
        found += error.errors(include_url=False)
    else:
        if not problems:
            return made
    for problem in problems:
        found.append({"type": "value_error", "input": value, "ctx": {"error": ValueError(problem)}})
    raise ValidationError.from_exception_data("", found)


def checked(model: type[M], value: object, source: str) -> M:
    """Validate what a person wrote. Raises FileError that names all wrong places."""
    try:
        return model.model_validate({} if value is None else value)
    except ValidationError as error:
        problems = [_problem(model, item) for item in error.errors()]
        raise FileError(source, problems) from error


def _problem(model: type[BaseModel], error: Any) -> str:  # noqa: ANN401  pydantic's ErrorDetails, as dict
    place = _written(error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{place}: unknown; allowed here: {_keys(model, error['loc'][:-1])}"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    message = message.partition(", unable to parse")[0]  # says only once more that it is none
    if error["type"] == "model_type":
        message = f"must be a map with any of {_keys(model, error['loc'])}"
    if error["type"] == "missing":
        return f"{place}: is missing"
    if error["type"] == "string_type" and isinstance(error["input"], (bool, int, float)):
        message = "must be text, and YAML reads what is not quoted as something else"
    shown = quoted(error["input"])
    # A map as a whole would be long; what is wrong in it was said.
    if not message.startswith(shown) and not isinstance(error["input"], (dict, list)):
        message += f", not {shown}"
    return f"{place}: {message}" if place else message


def _written(way: Sequence[int | str]) -> str:
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in way if part != _KEY
    )
    return text.removeprefix(".")


def _keys(model: Any, way: Sequence[int | str]) -> str:  # noqa: ANN401  a class of ours, found by annotations
    """List what may stand in the map to which `way` leads."""
    for part in way:
        kind = get_origin(model := _bare(model))
        if kind in (list, tuple):
            model = get_args(model)[0]
        elif kind is dict:
            model = get_args(model)[1]
        else:
            model = next(f.annotation for f in model.model_fields.values() if f.alias == part)
    fields = _bare(model).model_fields
    return ", ".join(sorted(f.alias or name for name, f in fields.items()))


def _bare(annotation: Any) -> Any:  # noqa: ANN401  as above
    """Take off what says "or none" and how to validate."""
    while get_origin(annotation) in (Annotated, Union, UnionType):
        annotation = get_args(annotation)[0]
    return annotation
