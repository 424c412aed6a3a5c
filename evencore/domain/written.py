"""What people write, read strictly: maps of which each key has a form and a default.

For: the policy file, the annotation of nodes, settings. A class says of each field in which form it
is written (evencore.domain.forms); `read` gives the value and all that is wrong, with its places.
Not for: files with conditions between many parts, such as node files (evencore.strict).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from msgspec import Struct, structs

from evencore.domain.text import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
W = TypeVar("W", bound="Written")

_LONGEST = 40  # characters of a key that is no name


class Form(NamedTuple, Generic[T]):
    """How a value is written."""

    # From what YAML, JSON, a flag or a variable gave; a ValueError says what is allowed.
    read: Callable[[object], T]
    # To what JSON can say; `read` understands it.
    write: Callable[[T], object]


class Problem(NamedTuple):
    """What is wrong at one place: that is keys, and numbers within lists; of a whole, nothing."""

    way: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{'.'.join(self.way)}: {self.text}" if self.way else self.text


class WithinError(ValueError):
    """Something within a value is wrong; `problems` has their places from there on."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


class Clash(NamedTuple):
    """Values that are right by themselves, and do not go together."""

    text: str
    fields: tuple[str, ...]  # that count as wrong then; of one that is wrong itself nobody asks


class Written(Struct, frozen=True):
    """A map that people write.

    Each field is another one, or Annotated with its Form; keys are the names that msgspec would
    use. Who makes one in code is not checked.
    """

    def clashes(self) -> Iterable[Clash]:
        """Tell what does not go together. Of fields that are wrong it sees the defaults."""
        return ()

    def as_written(self) -> dict[str, Any]:
        """Return it as people would write it in full, defaults included; JSON can say it."""
        forms = _forms(type(self))
        return {key: form.write(getattr(self, name)) for key, (name, form) in forms.items()}


def read(kind: type[W], value: object) -> tuple[W, list[Problem]]:
    """Read what a person wrote, and find everything that is wrong with it. Never raises.

    In the place of what is wrong are defaults: they are there to look for more that is wrong.
    """
    forms = _forms(kind)
    if not isinstance(value, dict):
        return kind(), _problems(ValueError(f"must be a map with any of {_allowed(kind)}"), value)
    good: dict[str, Any] = {}
    wrong: set[str] = set()
    problems: list[Problem] = []
    for key, item in value.items():
        if key not in forms:
            problems.append(Problem((place(key),), f"unknown; allowed here: {_allowed(kind)}"))
            continue
        name, form = forms[key]
        try:
            good[name] = form.read(item)
        except ValueError as error:
            wrong.add(name)
            problems += within(key, error, item)
    for clash in kind(**good).clashes():
        if wrong.isdisjoint(clash.fields):
            problems.append(Problem((), clash.text))
            good = {name: item for name, item in good.items() if name not in clash.fields}
    return kind(**good), problems


def within(key: object, error: ValueError, value: object) -> list[Problem]:
    """Give the problems of a value that a form refused, with the key or number it is at."""
    return [Problem((place(key), *one.way), one.text) for one in _problems(error, value)]


def place(key: object) -> str:
    """Show a key, which may be anything that YAML can say."""
    plain = isinstance(key, str) and key.isprintable() and 0 < len(key) <= _LONGEST
    return str(key) if plain else _shown(key)


def keys(kind: type[Written]) -> tuple[str, ...]:
    """Give the keys of a map, in the order of its class."""
    return kind.__struct_encode_fields__


def _allowed(kind: type[Written]) -> str:
    return ", ".join(sorted(keys(kind)))


def _problems(error: ValueError, value: object) -> list[Problem]:
    if isinstance(error, WithinError):
        return error.problems
    text, shown = str(error), _shown(value)
    # A map as a whole would be long; what is wrong in it was said.
    if not text.startswith(shown) and not isinstance(value, dict):
        text += f", not {shown}"
    return [Problem((), text)]


def _shown(value: object) -> str:
    try:
        return quoted(value)
    except (ValueError, RecursionError):  # Python writes no number of 5,000 digits
        return "a value too large to show"


@cache
def _forms(kind: type[Written]) -> dict[str, tuple[str, Form[Any]]]:
    """Find the name and form of each key."""
    return {one.encode_name: (one.name, _form(one.type)) for one in structs.fields(kind)}


def _form(annotation: Any) -> Form[Any]:  # noqa: ANN401  a type, as typing has it
    if isinstance(annotation, type) and issubclass(annotation, Written):
        return _map(annotation)
    form: Form[Any] = annotation.__metadata__[0]
    return form


def _map(kind: type[W]) -> Form[W]:
    def read_map(value: object) -> W:
        made, problems = read(kind, value)
        if problems:
            raise WithinError(problems)
        return made

    return Form(read_map, kind.as_written)
