"""Files that people hand over: manifests, dumps of a cluster, policies. YAML or JSON, or `-`.

For: reading and telling at once everything that is wrong, so that nobody mends one file only to
be told of the next. Not for: what the documents mean. What a number or a word in YAML means is in
`kubeyaml`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, NoReturn

from evencore.domain.objects import Source, text_at
from evencore.filekinds import kind_of
from evencore.kubeyaml import YamlError, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN: Final = "-"
_STDIN_IN_WORDS = "stdin"

MOST_BYTES: Final = 1 << 30
"""The largest file that is read. All objects of 5,000 nodes are a fifth of this."""

_TRY_YAML_TOO = 1 << 20  # bytes; YAML is slow, and JSON cut short is a mistake in any case


class InputError(ValueError):
    """Files that cannot be used; `problems` has a sentence for each, which says what to do."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class Document(NamedTuple):
    """One document of a file, and its place."""

    source: Source
    value: Any


def read_documents(
    files: Iterable[str],
    stdin: BinaryIO | None = None,
    progress: Callable[[str, int], None] = lambda _name, _size: None,
) -> list[Document]:
    """Read all documents of all files, those that say nothing left out.

    `-` is `stdin` (default: that of the process). A list at the top counts as its items.
    `progress` is told the name and the bytes of each file before it is parsed. Integers are
    integers and other numbers text, so that nothing is lost.

    Raises InputError, which has the problems of all files.
    """
    names = list(files)
    documents: list[Document] = []
    problems = [
        f"{_STDIN_IN_WORDS} can be read only once, and - is given {times} times"
        for times in (Counter(names)[STDIN],)
        if times > 1
    ]
    for name in dict.fromkeys(names):
        shown = _STDIN_IN_WORDS if name == STDIN else name
        try:
            text = _decoded(_bytes(name, stdin))
            progress(shown, len(text))
            read = list(_parsed(text))
        except _WrongFile as error:
            problems.append(f"{shown}: {error}")
            continue
        if not read:
            problems.append(f"{shown}: it is empty; a YAML or JSON document is needed")
        documents += [
            Document(Source(shown, number, line, only=len(read) == 1), item)
            for number, line, value in read
            for item in (value if isinstance(value, list) else [value])
        ]
    if problems:
        raise InputError(problems)
    return documents


def read_dumps(
    files: Iterable[str], progress: Callable[[str, int], None] = lambda _name, _size: None
) -> list[Document]:
    """Read dumps of a cluster as `read_documents` does, and refuse what cannot be one.

    A table of kubectl or a certificate is also YAML: it would pass for an empty cluster.
    """
    documents = read_documents(files, progress=progress)
    problems = [
        f"{document.source}: it is no dump of a cluster: those say kind and items; "
        "make one with kubectl get nodes,pods -A -o json"
        for document in documents
        if not text_at(document.value, "kind")
    ]
    if problems:
        raise InputError(problems)
    return documents


def read_document(
    file: str, what: str, progress: Callable[[str, int], None] = lambda _name, _size: None
) -> Document:
    """Read a file of one document, as `read_documents` does; `what` it is, for the message."""
    documents = read_documents([file], progress=progress)
    other = next((it for one in documents if (it := kind_of(one.value, what))), None)
    if other:
        raise InputError([f"{file}: this is {other}, not {what}"])
    if len(documents) != 1:  # none in an empty list
        raise InputError([f"{file}: {what} is one document, and these are {len(documents)}"])
    return documents[0]


class _WrongFile(Exception):  # noqa: N818  never leaves this module
    """What is wrong with one file, without its name."""


def _bytes(name: str, stdin: BinaryIO | None) -> bytes:
    try:
        if name == STDIN:
            if stdin is None and sys.stdin is None:
                raise _WrongFile("it is closed; pipe something into it, or name a file")
            content = (stdin or sys.stdin.buffer).read(MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise _WrongFile("there is no such file") from error
    except IsADirectoryError as error:
        raise _WrongFile("it is a directory; name the files in it") from error
    except OSError as error:
        raise _WrongFile(f"it cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a NUL in the name
        raise _WrongFile(f"it cannot be read: {error}") from error
    if len(content) > MOST_BYTES:
        raise _WrongFile(f"it is larger than {MOST_BYTES >> 20} MiB; dump fewer objects at a time")
    return content


def _decoded(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what > makes in Windows PowerShell
        raise _WrongFile("it is UTF-16; save it as UTF-8 (PowerShell: | Out-File -Encoding utf8)")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _WrongFile(f"line {line}: it is not UTF-8 text; save it as UTF-8") from error


def _parsed(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield number, line and value of the documents that say anything.

    As kubectl does it: what begins with a brace is JSON, and YAML if that fails.
    """
    start = text.lstrip()[:1]
    read: Iterable[tuple[Any, int]]
    if start in ("{", "["):
        try:
            read = list(_json(text))
        except _WrongFile as error:
            if len(text) > _TRY_YAML_TOO:
                raise
            try:
                read = list(read_yaml(text))
            except YamlError:
                # A template in braces fails as both; then it is the hint that matters.
                raise _WrongFile(f"{error}{_hint(text, 1)}") from error
    else:
        read = _yaml(text)
    for number, (value, line) in enumerate(read, 1):
        if value is not None:
            yield number, line, value


def _yaml(text: str) -> Iterator[tuple[Any, int]]:
    try:
        yield from read_yaml(text)
    except YamlError as error:
        raise _WrongFile(f"{error}{_hint(text, error.line)}") from error


def _hint(text: str, line: int) -> str:
    """Say what to do if the place looks like a template, the commonest reason for bad YAML."""
    # libyaml often notices on the line behind.
    near = text.splitlines()[max(line - 2, 0) : line]
    if any("{{" in one for one in near):
        return "; is this a template? Render it first, as with helm template"
    return ""


_BLANK = " \t\r\n"
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character of UTF-16


def _json(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the JSON documents of a text, which may follow each other."""
    import json  # noqa: PLC0415  policies are YAML, and a process that starts reads one

    decoder = json.JSONDecoder(parse_float=str, parse_constant=_no_constant)
    halves = _HALF.search(text) is not None
    at = 0
    line = 1
    while True:
        begin = at
        while at < len(text) and text[at] in _BLANK:
            at += 1
        line += text.count("\n", begin, at)
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
            if halves:
                value = _whole(value)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise _WrongFile(f"{where}: this is no JSON: {error.msg}") from error
        except RecursionError as error:
            raise _WrongFile("it is nested too deeply") from error
        except ValueError as error:  # an integer of thousands of digits, NaN
            raise _WrongFile(f"a number in it cannot be read: {error}") from error
        yield value, line
        line += text.count("\n", at, end)
        at = end


def _whole(value: object) -> object:
    """Replace halves of characters, which no output can hold, as Go's decoder does."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
