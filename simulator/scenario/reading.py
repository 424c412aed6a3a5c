"""Scenarios from the disk, with the manifests they name, and every mistake told at once.

For: `load`. Not for: what a scenario may say; that is `model` and `checks`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evencore.domain.objects import items_of, map_at, text_at
from evencore.domain.text import quoted
from evencore.files import InputError, read_document, read_documents
from evencore.strict import FileError, checked
from simulator.resources import ALL
from simulator.scenario import checks
from simulator.scenario.model import ScenarioFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.objects import Object


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario, and the objects that its steps apply, by the number of the step."""

    name: str
    file: ScenarioFile
    manifests: Mapping[int, tuple[Object, ...]]

    def with_seed(self, seed: int) -> Scenario:
        """Give the same scenario with another seed."""
        return replace(self, file=self.file.model_copy(update={"seed": seed}))


def load(file: str) -> Scenario:
    """Read a scenario, YAML or JSON. Raises FileError with everything that is wrong."""
    try:
        document = read_document(file, "a scenario")
    except InputError as error:
        problems = [problem.removeprefix(f"{file}: ") for problem in error.problems]
        raise FileError(file, problems) from error
    return scenario(document.value, file)


def scenario(value: object, source: str = "scenario") -> Scenario:
    """Check the content of a scenario file; manifests are looked for beside `source`."""
    problems: list[str] = []
    manifests = _manifests(value, Path(source).parent, problems)
    try:
        file = checked(ScenarioFile, value, source)
    except FileError as error:
        raise FileError(source, [*error.problems, *problems]) from error
    problems += checks.problems(file)
    if problems:
        raise FileError(source, problems)
    return Scenario(Path(source).name, file, manifests)


def _manifests(value: object, folder: Path, problems: list[str]) -> dict[int, tuple[Object, ...]]:
    """Read what the steps apply. Tolerant to steps that are wrong: the model tells of those."""
    steps = value.get("steps") if isinstance(value, dict) else None
    found = {}
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        applied = step.get("apply") if isinstance(step, dict) else None
        objects: list[Object] = []
        for index, item in enumerate(applied if isinstance(applied, list) else [applied]):
            place = f"steps[{number}].apply[{index}]"
            if isinstance(item, str):
                objects += _from_file(str(folder / item), place, problems)
            elif isinstance(item, dict):
                objects += _objects(item, place, problems)
        found[number] = tuple(objects)
    return found


def _from_file(file: str, place: str, problems: list[str]) -> Iterator[Object]:
    try:
        documents = read_documents([file])
    except InputError as error:
        problems += [f"{place}: {problem}" for problem in error.problems]
        return
    for document in documents:
        yield from _objects(document.value, f"{place}: {document.source}", problems)


_KINDS = {(one.api_version, one.kind) for one in ALL}


def _objects(value: Any, place: str, problems: list[str]) -> Iterator[Object]:  # noqa: ANN401  whatever a document holds
    """Yield the objects of a document that the cluster can keep."""
    for one in items_of(value):
        kind, version = text_at(one, "kind"), text_at(one, "apiVersion")
        metadata = map_at(one, "metadata")
        if not kind or not version:
            problems.append(f"{place}: is no manifest: those say kind and apiVersion")
        elif (version, kind) not in _KINDS:
            served = sorted({name for _, name in _KINDS})
            problems.append(
                f"{place}: {quoted(kind)} of {quoted(version)} is not served; "
                f"kinds that are: {', '.join(served)}"
            )
        elif not (text_at(metadata, "name") or text_at(metadata, "generateName")):
            problems.append(f"{place}: the {kind} has no metadata.name")
        else:
            yield one
