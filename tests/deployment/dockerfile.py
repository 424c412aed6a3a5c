"""The Dockerfile as instructions, stage by stage: where tests run there is no engine to read it."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_COMMENT = re.compile(r"^\s*#.*\n", re.MULTILINE)


class Instruction(NamedTuple):
    """One of them."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Give the arguments; of the JSON form, if it is that."""
        if self.text.startswith("["):
            parsed: list[str] = json.loads(self.text)
            return parsed
        return self.text.split()


class Stage(NamedTuple):
    """What follows one FROM."""

    image: str
    name: str
    instructions: list[Instruction]

    def all(self, name: str) -> list[Instruction]:
        """Give those of a name."""
        return [one for one in self.instructions if one.name == name]

    def only(self, name: str) -> Instruction:
        """Give the only one of a name."""
        [found] = self.all(name)
        return found


class Dockerfile(NamedTuple):
    """The whole."""

    arguments: dict[str, str]  # before the first stage, with their defaults
    stages: list[Stage]


def parse(text: str) -> Dockerfile:
    """Read it. Raises ValueError for a line that is no instruction."""
    file = Dockerfile({}, [])
    # Comments go first, also those within an instruction; a backslash in them means nothing.
    for line in _COMMENT.sub("", text).replace("\\\n", "").splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        match = re.fullmatch(r"([A-Z]+)\s+(\S.*)", stripped)
        if match is None:
            raise ValueError(f"no instruction: {stripped}")
        one = Instruction(match[1], match[2])
        if one.name == "FROM":
            image, _, name = one.text.partition(" AS ")
            file.stages.append(Stage(image, name, []))
        elif file.stages:
            file.stages[-1].instructions.append(one)
        elif one.name == "ARG":
            name, _, default = one.text.partition("=")
            file.arguments[name] = default
        else:
            raise ValueError(f"before the first FROM: {stripped}")
    return file
